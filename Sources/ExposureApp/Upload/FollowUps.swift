// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import World

/// The uploads of the keys of the following days.
final class FollowUps {
  private let context: AppContext
  private let upload: Upload
  private let notices: NoticeBoard
  private var pauses = UploadContinuation()

  init(_ context: AppContext, upload: Upload, notices: NoticeBoard) {
    self.context = context
    self.upload = upload
    self.notices = notices
  }

  /// True if keys are to be shared now.
  var isDue: Bool {
    context.store.condition == .ready && context.pause == nil && pauses.isDue(at: context.now)
      && context.state.followUp?.dueDays(at: context.now) != nil
  }

  /// Records the user's consent after asking for it; returns the reason if nothing changes.
  func begin() async -> UploadFailure? {
    do {
      try await context.framework.activate()
      try await context.framework.preAuthorizeKeys()
      try context.store.update { $0.followUp?.begin(randomness: context.randomness) }
      pauses = UploadContinuation()
      context.announce(.consentChanged)
      return nil
    } catch let error as ENError {
      return UploadFailure(ofKeys: error)
    } catch {
      return UploadFailure(error)
    }
  }

  /// Ends the sharing and removes the permit.
  func end(_ status: FollowUp.Status) throws(StorageFailure) {
    try context.store.update { $0.followUp?.end(status) }
    context.followUpFailure = nil
    var record = try upload.record()
    if record.followUp != nil {
      record.followUp = nil
      try context.uploads.save(record)
    }
    context.announce(.consentChanged)
  }

  /// Shares the keys of the days that have ended. A failure is kept, and the next attempt follows after a pause.
  func run() async {
    do {
      try await share()
      context.followUpFailure = nil
      pauses = UploadContinuation()
    } catch {
      await note(Task.isCancelled ? .stopped : UploadFailure(error))
    }
  }

  private func note(_ reason: UploadFailure) async {
    guard reason != .stopped else { return }
    var failure = reason
    do {
      switch reason {
      case .pinRefused:
        try end(.refused)
        return await notices.show(
          .followingDaysRefused, forSeconds: RemovalRule.completedUploadSeconds)
      case .notAgreed: return try end(.ended)
      // Tomorrow's token may be accepted.
      case .uploadRefused:
        return try context.store.update {
          $0.followUp?.postpone(at: context.now, randomness: context.randomness)
          context.followUpFailure = reason
        }
      default: break
      }
    } catch { failure = .storage(error) }
    pauses.fail(reason, at: context.now, longest: FollowUpRule.retrySecondsMax)
    context.followUpFailure = failure
  }

  private func share() async throws {
    guard let followUp = context.state.followUp, let days = followUp.dueDays(at: context.now) else {
      return
    }
    if let reason = await upload.reasonAgainstUpload() { throw reason }
    var record = try upload.record()
    guard let permit = record.followUp?.permit, !followUp.isExpired(at: context.now) else {
      throw UploadFailure.pinRefused
    }
    guard let pending = try await pending(for: followUp, days, in: record) else {
      return try finish(days, hasShared: false, in: record)
    }
    // Stored before the request, so that a repeated one has the same keys.
    record.followUp?.pending = pending
    try context.uploads.save(record)
    let requests = context.uploadRequests
    let attested = pending.attested(by: try await upload.devicePayload(for: pending))
    let response = try await context.network.send(requests.token(for: attested, permit: permit))
    let granted = attested.granted(try UploadResponses.token(in: response), at: context.now)
    try UploadResponses.accepted(try await context.network.send(requests.upload(granted)))
    try finish(days, hasShared: true, in: record)
  }

  /// The upload of today; `nil` if the phone has no keys to share. The token of a day is for one upload, so that an
  /// upload that was interrupted yesterday begins again with the keys of more days.
  private func pending(
    for followUp: FollowUp, _ days: ClosedRange<Int>, in record: UploadRecord
  ) async throws -> PendingUpload? {
    let now = context.now
    if let pending = record.followUp?.pending, pending.begun.unixDay == now.unixDay {
      return pending
    }
    let keys = try await releasedKeys().filter { key in
      key.end <= now && days.contains(key.start.unixDay)
        && (context.state.clockRecord?.isRight(key.start, at: now) ?? true)
    }
    let risks = TransmissionRisks(
      configuration: context.remote.transmissionRiskConfiguration, diagnosis: followUp.diagnosis)
    guard !KeySelection.shared(keys, risks, at: now).isEmpty else { return nil }
    return PendingUpload(
      pin: nil, keys: try KeySelection.keys(of: keys, risks, at: now),
      hmacSecret: upload.newHMACSecret(),
      isInteroperabilityEnabled: followUp.isInteroperabilityEnabled, at: now)
  }

  private func releasedKeys() async throws -> [ReleasedKey] {
    do {
      try await context.framework.activate()
      return try await context.framework.preAuthorizedKeys()
    } catch let error as ENError {
      throw UploadFailure(ofKeys: error)
    }
  }

  private func finish(
    _ days: ClosedRange<Int>, hasShared: Bool, in record: UploadRecord
  ) throws(StorageFailure) {
    let now = context.now
    try context.store.update { state in
      if hasShared { state.noteFollowUpSharing(at: now) }
      state.followUp?.share(
        through: days.upperBound, at: now, randomness: context.randomness)
    }
    var record = record
    record.followUp?.pending = nil
    if context.state.followUp?.isOpen != true { record.followUp = nil }
    try context.uploads.save(record)
    context.announce(.consentChanged)
  }
}
