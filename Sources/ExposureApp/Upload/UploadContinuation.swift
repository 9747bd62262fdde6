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
  func isDue(at now: Date) -> Bool {
    next.map { $0 <= now || now < failed } ?? true
  }

  /// Records an attempt that ended at `now`.
  mutating func fail(_ reason: UploadFailure?, at now: Date) {
    let growing = min(Self.retrySeconds * Double(1 << min(attempts, 8)), Self.retrySecondsMax)
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
    hasPendingUpload ? await repeatUpload() : nil
  }

  private func repeatUpload() async -> UploadOutcome? {
    // An unreadable record has no upload that could be continued.
    guard let pin = try? uploads.load().pending?.pin.bytes else { return nil }
    return await upload(pin: pin, isInteroperabilityEnabled: false)
  }

  /// Finishes an upload that the user has agreed to and whose token is valid, and tells the user how it ended.
  ///
  /// When the token has expired, further attempts find out if the key server has accepted the keys.
  func finishUploadIfDue() async {
    guard runningUpload == nil, store.condition == .ready, pause == nil,
      let end = uploads.pendingEnd, store.state.notices.toldUpload != end
    else { return }
    // Without a token, the user has to repeat the upload.
    // An unreadable record has no upload that could be continued.
    let pending = try? uploads.load().pending
    let mayRepeat = uploads.hasToken && pending?.isRepeatable(at: clock.now) == true
    guard mayRepeat || !hasPendingUpload, continuation.isDue(at: clock.now) else { return }
    isContinuingUpload = true
    let outcome = mayRepeat ? await repeatUpload() : nil
    isContinuingUpload = false
    if outcome == .success {
      await tellUpload(.uploadFinished, forSeconds: RemovalRule.completedUploadSeconds)
    } else if mayRepeat, outcome?.reason?.isFinal != true {
      continuation.fail(outcome?.reason, at: clock.now)
    } else if !Task.isCancelled {
      await tellUpload(.uploadUnfinished, forSeconds: RemovalRule.daySeconds)
    }
  }

  private func tellUpload(_ notice: Notice, forSeconds seconds: TimeInterval) async {
    continuation = UploadContinuation()
    let end = clock.now.addingTimeInterval(seconds)
    let upload = uploads.pendingEnd
    await notices.show(notice)
    store.updateIfPossible { state in
      state.notices.toldUpload = upload
      state.notices.uploadNoticeEnd = end
      state.notices.visible.insert(.upload)
    }
    announce(.noticeShown(.upload))
  }
}
