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
  /// When the token has expired, further attempts find out if the key server has accepted the keys.
  func finishUploadIfDue() async {
    guard context.runningUpload == nil, context.store.condition == .ready, context.pause == nil,
      context.uploads.pendingEnd != nil, !context.isUploadEndNotified
    else { return }
    // Without a token, the user has to repeat the upload. An unreadable record has none that could be continued.
    let pending = try? context.uploads.load().pending
    let repeated = pending.flatMap {
      $0.token != nil && $0.isRepeatable(at: context.now) ? $0.pin?.bytes : nil
    }
    guard repeated != nil || !context.hasPendingUpload, continuation.isDue(at: context.now) else {
      return
    }
    var outcome: UploadOutcome?
    if let repeated {
      isContinuingUpload = true
      outcome = await upload(pin: repeated, isInteroperabilityEnabled: false)
      isContinuingUpload = false
    }
    if outcome == .success {
      await notifyOfUpload(.uploadFinished, forSeconds: RemovalRule.completedUploadSeconds)
    } else if repeated != nil, outcome?.reason?.isFinal != true {
      continuation.fail(outcome?.reason, at: context.now)
    } else if repeated == nil, await mayBeWithinTime() {
      continuation.fail(nil, at: context.now)
    } else if !Task.isCancelled {
      await notifyOfUpload(.uploadUnfinished, forSeconds: RemovalRule.daySeconds)
      housekeeping.removeOldUploads()
    }
  }

  /// Returns `true` if the unfinished upload seems to have expired only because the clock is wrong, or if that cannot
  /// be found out now.
  private func mayBeWithinTime() async -> Bool {
    guard let failure = await configuration.compareClock() else { return context.isClockWrong }
    return context.isClockWrong
      || [.noConnection, .portal, .certificateOutOfDate].contains(failure)
  }

  private func notifyOfUpload(_ cause: Notice.Cause, forSeconds seconds: TimeInterval) async {
    continuation = UploadContinuation()
    let upload = context.uploads.pendingEnd
    context.store.updateIfPossible { $0.notices.notifiedUploadEnd = upload }
    await notices.show(cause, forSeconds: seconds)
  }
}
