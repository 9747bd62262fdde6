// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import Secrets
import World

/// The upload of the user's keys.
final class Upload {
  private let context: AppContext
  private let configuration: ConfigurationRefresh
  private let housekeeping: Housekeeping
  private let deviceCheck: any DeviceAttestation

  init(
    _ context: AppContext, configuration: ConfigurationRefresh, housekeeping: Housekeeping,
    deviceCheck: any DeviceAttestation
  ) {
    self.context = context
    self.configuration = configuration
    self.housekeeping = housekeeping
    self.deviceCheck = deviceCheck
  }

  /// Runs one upload.
  func run(_ typed: ZeroingBytes, isInteroperabilityEnabled: Bool, diagnosis: Diagnosis) async
    -> UploadOutcome
  {
    // The pause may have ended since the last check.
    if context.pause != nil { await configuration.compareClock(decoy: .never) }
    guard context.pause == nil else {
      return UploadOutcome(configuration.isPauseOfWrongClock ? .clockWrong : .paused)
    }
    let now = context.now
    if let end = PINLock.lockedUntil(refused: context.state.refusedPINs, at: now) {
      return UploadOutcome(.locked(until: end))
    }
    guard let pin = PIN(typed) else { return UploadOutcome(.invalidPIN) }
    guard context.store.condition == .ready else {
      return UploadOutcome(.storage(.notReady(context.store.condition)))
    }
    do {
      let record = try self.record()
      let isContinued = record.pending?.isContinued(by: pin, at: now) ?? false
      // The PIN of a complete upload needs no request.
      if record.completed?.matches(pin, at: now) != true {
        let isReady = record.pending?.isReady(at: now) ?? false
        if let reason = await reasonAgainstUpload(decoy: isReady ? .never : .always) {
          return UploadOutcome(reason)
        }
      }
      // An upload that is continued keeps the day that the user stated at first.
      if !isContinued || diagnosis.day != nil {
        context.store.updateIfPossible { state in
          state.statedDay = diagnosis.day
          state.diagnosis = diagnosis
        }
      }
      var flow = UploadFlow(
        record: record, isInteroperabilityEnabled: isInteroperabilityEnabled,
        risks: TransmissionRisks(
          configuration: context.remote.transmissionRiskConfiguration, diagnosis: diagnosis))
      return await run(flow.receivedPIN(pin, at: now), for: pin, in: &flow)
    } catch { return UploadOutcome(.storage(error)) }
  }

  /// The reason not to upload now, from the current device configuration and the clock that its
  /// response states. A wrong clock is one only if a second source confirms it.
  ///
  /// - Parameter decoy: `never` if the upload has its token: then its keys are chosen, and the last answer counts.
  func reasonAgainstUpload(decoy: ClockDecoy = .always) async -> UploadFailure? {
    await configuration.compareClock(decoy: decoy)
    if context.state.clockRecord?.isConfirmed == true { return .clockWrong }
    return context.pause == nil ? nil : .paused
  }

  /// The stored record. A damaged one has been set aside: the upload starts again.
  func record() throws(StorageFailure) -> UploadRecord {
    do throws(SealedStorageError) { return try context.uploads.load() } catch .damaged {
      housekeeping.noteOwn()
      return UploadRecord()
    } catch { throw StorageFailure(error) }
  }

  private func run(_ first: UploadFlow.Step, for pin: PIN, in flow: inout UploadFlow) async
    -> UploadOutcome
  {
    var step = first
    while true {
      if case .end(let outcome, let keepsPending) = step {
        finish(outcome, of: pin, in: flow.record, keepsPending: keepsPending)
        return outcome
      }
      do { step = try await perform(step, in: &flow) } catch {
        step = flow.failed(Task.isCancelled ? .stopped : UploadFailure(error))
      }
    }
  }

  /// Performs one step and passes its result to the flow.
  private func perform(_ step: UploadFlow.Step, in flow: inout UploadFlow) async throws
    -> UploadFlow.Step
  {
    try Task.checkCancellation()
    let requests = context.uploadRequests
    switch step {
    case .requestKeys:
      context.announce(.uploadProgress(.waitingForConsent))
      let keys = try await diagnosisKeys()
      // Stored before the PIN is used: after a rejection, the next attempt on that day reuses these keys.
      // Keys that cannot be selected are not stored; the flow below rejects them with the reason.
      if (try? KeySelection.keys(of: keys, at: context.now)) != nil {
        flow.record.released = UploadRecord.Released(keys: keys, date: context.now)
        try context.uploads.save(flow.record)
      }
      return flow.receivedKeys(keys, hmacSecret: newHMACSecret(), at: context.now)
    case .useKeys(let keys):
      let right = try keysOfRightTimes(keys)
      return flow.receivedKeys(right, hmacSecret: newHMACSecret(), at: context.now)
    case .requestAttestation(let pending):
      return flow.receivedAttestation(try await devicePayload(for: pending))
    case .requestToken(let pending):
      context.announce(.uploadProgress(.requestingToken))
      try keep(flow.expired ?? pending, in: &flow)
      guard let pin = pending.pin else { throw UploadFailure.invalidPIN }
      let response = try await context.network.send(requests.token(for: pending, pin: pin))
      if let permit = UploadResponses.permit(in: response) {
        flow.record.followUp = FollowUpMeans(permit: permit)
      }
      return flow.receivedToken(try UploadResponses.token(in: response), at: context.now)
    case .send(let pending):
      context.announce(.uploadProgress(.sending))
      try keep(pending, in: &flow)
      try UploadResponses.accepted(try await context.network.send(requests.upload(pending)))
      return flow.receivedAcceptance()
    case .end: return step
    }
  }

  /// Stores the upload before a request that uses its PIN or token.
  private func keep(_ pending: PendingUpload, in flow: inout UploadFlow) throws(StorageFailure) {
    flow.record.pending = pending
    try context.uploads.save(flow.record)
  }

  func newHMACSecret() -> ZeroingBytes {
    var bytes = context.randomness.bytes(KeyHMAC.secretByteCount)
    return ZeroingBytes(moving: &bytes)
  }

  private func diagnosisKeys() async throws -> [ReleasedKey] {
    do {
      try await context.framework.activate()
      return try keysOfRightTimes(try await context.framework.diagnosisKeys())
    } catch let error as ENError { throw UploadFailure(ofKeys: error) }
  }

  func devicePayload(for pending: PendingUpload) async throws -> DeviceVerificationPayload {
    do {
      return DeviceVerificationPayload(
        deviceToken: try await deviceCheck.token(),
        transactionID: pending.transactionID(
          appPackageName: context.configuration.appPackageName,
          regions: context.configuration.uploadRegions),
        timestampMilliseconds: context.now.unixMillisecond)
    } catch { throw UploadFailure.noDeviceToken }
  }

  /// Stores the end of an upload: a success is remembered by its PIN, together with the end of the pending
  /// upload.
  private func finish(
    _ outcome: UploadOutcome, of pin: PIN, in record: UploadRecord, keepsPending: Bool
  ) {
    let now = context.now
    var next = record
    if !keepsPending { next.pending = nil }
    if outcome == .success, record.completed?.matches(pin, at: now) != true {
      let used = record.pending?.pin ?? pin
      next.completed = CompletedUpload(of: used, at: now, randomness: context.randomness)
      next.released = nil
    }
    let isShared = next.completed != record.completed
    do {
      if next != record { try context.uploads.save(next) }
      // If this fails, `noteUnrecordedSharing` repeats it.
      if isShared {
        let isOffered = next.followUp != nil
        let goesAbroad = record.pending?.isInteroperabilityEnabled ?? false
        try context.store.update { state in
          state.noteSharing(at: now)
          if isOffered { state.offerFollowUp(goesAbroad: goesAbroad, at: now) }
        }
        context.uploads.noteRecorded()
      }
      if next.pending == nil { housekeeping.forgetStatedDay() }
      guard outcome.reason == .pinRefused else { return }
      try context.store.update { state in
        state.refusedPINs = PINLock.relevant(state.refusedPINs + [now], at: now)
      }
    } catch {
      // The result is final even if it is not stored; the same PIN repeats the upload.
      context.logger.notice("storing the end of an upload failed", metadata: ["error": "\(error)"])
    }
  }

  /// The released keys without those that a wrong clock has made.
  ///
  /// - Throws: `UploadFailure.keysOfWrongTime` if there are no others.
  private func keysOfRightTimes(_ keys: [ReleasedKey]) throws(UploadFailure) -> [ReleasedKey] {
    let (record, now) = (context.state.clockRecord ?? ClockRecord(), context.now)
    let right = keys.filter { record.isRight($0.start, at: now) }
    guard right.isEmpty, !keys.isEmpty else { return right }
    throw .keysOfWrongTime
  }

  func preview(
    of periods: [(start: UInt32, period: UInt32)], diagnosis: Diagnosis, pin: ZeroingBytes?
  ) -> [KeyPreview] {
    let (now, pin) = (context.now, pin.flatMap { PIN($0) })
    // Without a readable record there is no pending upload, and the preview is that of a new one.
    let record = try? context.uploads.load()
    if let pending = record?.pending,
      pin.map({ pending.isContinued(by: $0, at: now) }) ?? pending.isReady(at: now)
    {
      return pending.keys.map(\.preview)
    }
    let risks = TransmissionRisks(
      configuration: context.remote.transmissionRiskConfiguration, diagnosis: diagnosis)
    let released = record?.released.flatMap { $0.isValid(at: now) ? $0.keys : nil }
    let keys =
      released
      ?? periods.map {
        ReleasedKey(
          bytes: ZeroingBytes(count: 0) { _ in }, rollingStartNumber: $0.start,
          rollingPeriod: $0.period)
      }
    let clock = context.state.clockRecord ?? ClockRecord()
    return KeySelection.shared(keys, risks, at: now).map { key in
      var preview = key.preview
      preview.isWithheld = !clock.isRight(key.start, at: now)
      return preview
    }.sorted { $0.day < $1.day }
  }

  /// Sends a decoy if it is due and draws the time of the next. The responses are ignored.
  func sendDecoyIfDue() async {
    let now = context.now
    let due = context.state.nextDecoy
    // A later time was drawn before the clock was set back.
    let latest = now.addingTimeInterval(Double(Decoys.intervalSeconds.upperBound))
    guard due.map({ $0 <= now || $0 > latest }) ?? true else { return }
    let wait = Double(context.randomness.number(in: Decoys.intervalSeconds))
    guard context.store.updateIfPossible({ $0.nextDecoy = now.addingTimeInterval(wait) }),
      due != nil
    else { return }
    // Nothing depends on the responses to decoys.
    for request in context.uploadRequests.decoys() { _ = try? await context.network.send(request) }
  }
}

extension Task where Failure == Never {
  /// The value; the task is cancelled with its caller.
  var valueOrCancelled: Success {
    get async {
      await withTaskCancellationHandler {
        await value
      } onCancel: {
        cancel()
      }
    }
  }
}

/// The system's attestation that this is a genuine device: DeviceCheck on Apple's systems.
public protocol DeviceAttestation: Sendable {
  /// A new token, which the key server can verify once.
  ///
  /// - Throws: If the device or the vendor's server cannot create one at the moment.
  func token() async throws -> Data
}
