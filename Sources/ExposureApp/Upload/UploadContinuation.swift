// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The pauses between the attempts of the app to finish an upload by itself.
struct UploadContinuation: Sendable {
  /// The number of attempts.
  private var attempts = 0
  private var failed = Date.distantPast
  private var next: Date?

  /// The first pause, in seconds; it doubles with each attempt.
  static let retrySeconds: TimeInterval = 60
  /// The longest pause, in seconds; a server may ask for a longer one.
  static let retrySecondsMax: TimeInterval = 8 * 60

  /// Returns `true` if the next attempt is due at `now`, also if the clock was set back since the last one.
  func isDue(at now: Date) -> Bool { next.map { $0 <= now || now < failed } ?? true }

  /// Records an attempt that ended at `now`. The next one is due after `longest` seconds at the latest, unless a server
  /// asks for more.
  mutating func fail(
    _ reason: UploadFailure?, at now: Date, longest: TimeInterval = Self.retrySecondsMax
  ) {
    let growing = min(Self.retrySeconds * Double(1 << min(attempts, 8)), longest)
    attempts += 1
    var asked = 0
    if case .serverBusy(let seconds)? = reason { asked = seconds ?? 0 }
    failed = now
    next = now.addingTimeInterval(max(growing, Double(asked)))
  }
}

extension ExposureApp {
  /// Continues the unfinished upload with its own PIN; returns `nil` if there is none.
  public func continueUpload() async -> UploadOutcome? {
    // An unreadable record has no upload that could be continued.
    guard context.hasPendingUpload, let pin = try? context.uploads.load().pending?.pin else {
      return nil
    }
    return await upload(pin: pin.bytes, isInteroperabilityEnabled: false)
  }

  /// Finishes an upload that the user has agreed to and whose token is valid, and notifies the user of its end.
  ///
  /// When the token has expired, further attempts find out if the key server has accepted the keys. The upload is given
  /// up if a server refuses it, if the clock was compared and its time is over, or after
  /// `RemovalRule.unfinishedUploadSeconds`. Unless a server has refused it, its PIN can repeat it until a day after its
  /// beginning.
  func finishUploadIfDue() async {
    guard context.runningUpload == nil, !isRemovingEverything, context.store.condition == .ready,
      context.uploads.pendingEnd != nil, !context.isUploadEndNotified,
      // An unreadable record has no upload that could be continued.
      let pending = try? context.uploads.load().pending
    else { return }
    let times = context.state.retentionPeriod(at: context.now).times
    if !times.isEmpty, times.allSatisfy(pending.isTooOld) { return await giveUpUpload() }
    guard context.pause == nil, continuation.isDue(at: context.now) else { return }
    if pending.token != nil, pending.isRepeatable(at: context.now), let pin = pending.pin {
      await repeatUpload(pin)
    } else if !context.hasPendingUpload {
      // Until then, the user has to repeat an upload without a token.
      await giveUpUnlessWithinTime(pending)
    }
  }

  private func giveUpUnlessWithinTime(_ pending: PendingUpload) async {
    let mayContinue = await mayBeWithinTime(pending)
    // Meanwhile the user may have begun another upload, or removed everything. An unreadable record has no upload.
    guard !Task.isCancelled, context.runningUpload == nil, !isRemovingEverything,
      (try? context.uploads.load().pending) == pending
    else { return }
    if mayContinue {
      continuation.fail(nil, at: context.now)
    } else {
      await giveUpUpload()
    }
  }

  private func repeatUpload(_ pin: PIN) async {
    isContinuingUpload = true
    let outcome = await upload(pin: pin.bytes, isInteroperabilityEnabled: false)
    isContinuingUpload = false
    if outcome == .success {
      await notifyOfUpload(.uploadFinished, forSeconds: RemovalRule.completedUploadSeconds)
    } else if outcome.reason?.isFinal == true {
      await giveUpUpload()
    } else {
      continuation.fail(outcome.reason, at: context.now)
    }
  }

  /// Returns `true` if the unfinished upload may have expired only because the clock is wrong, or if that cannot be
  /// found out now.
  private func mayBeWithinTime(_ pending: PendingUpload) async -> Bool {
    guard await configuration.compareClock() else { return true }
    guard context.isClockWrong, let wrong = context.state.clockRecord?.lastWrong else {
      return false
    }
    return wrong.secondsAhead.map {
      pending.isRepeatable(at: context.now.addingTimeInterval(-$0))
    } ?? true
  }

  /// Notifies the user. The upload is removed when its PIN cannot give the same token any more; a newer one stays.
  private func giveUpUpload() async {
    await notifyOfUpload(.uploadUnfinished, forSeconds: RemovalRule.daySeconds)
    housekeeping.removeOldUploads()
  }

  private func notifyOfUpload(_ cause: Notice.Cause, forSeconds seconds: TimeInterval) async {
    continuation = UploadContinuation()
    let upload = context.uploads.pendingEnd
    context.store.updateIfPossible { $0.notices.notifiedUploadEnd = upload }
    await notices.show(cause, forSeconds: seconds)
  }
}
