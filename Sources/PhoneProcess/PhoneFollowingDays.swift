// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import TextEncodings

extension PhoneState {
  /// The sharing of the keys of the days after an upload.
  package struct FollowingDays: Encodable, Hashable, Sendable {
    /// `offered`, `active`, `ended`, `complete` or `refused`.
    package let status: FollowUp.Status
    /// The last day (UTC) whose keys are shared.
    package let until: CalendarDay
    /// The last day (UTC) whose keys were shared, or were not there.
    package let sharedThrough: CalendarDay
    /// The name of the reason why keys could not be shared yet; the phone retries.
    @Nullable package var failure: String?
  }
}

extension PhoneState.FollowingDays {
  /// The sharing as a line for a person.
  var words: String {
    switch status {
    case .offered:
      "Following days: you can also share the keys of the days until \(until) UTC: share-following-days."
    case .active:
      "Following days: the keys of each day until \(until) UTC are shared after it has ended; shared so far: those"
        + " of the days until \(sharedThrough). To stop: share-following-days --end."
    case .ended: "Following days: no more keys are shared."
    case .complete: "Following days: the keys of the days until \(until) UTC were shared."
    case .refused:
      "Following days: the health authority's permission has ended, so no more keys are shared. To share more, ask for"
        + " a new PIN."
    }
  }
}

extension Phone {
  /// The sharing of the keys of the days after an upload.
  static func followingDays(of state: AppState) -> PhoneState.FollowingDays? {
    state.followUp.map {
      PhoneState.FollowingDays(
        status: $0.status, until: CalendarDay(sameDateAs: $0.lastDay),
        sharedThrough: CalendarDay(sameDateAs: $0.sharedThrough),
        failure: state.followUpFailure?.name)
    }
  }

  /// Performs the owner's decision.
  func decide(_ decision: PhoneOperation.FollowingDays) async throws -> PhoneReply {
    var failure: UploadFailure?
    switch decision {
    case .share:
      guard await app.currentState.followUp?.status == .offered else {
        return PhoneReply(
          .badInput, "There is nothing to agree to: share your keys with a PIN first.")
      }
      failure = await app.shareFollowingDays()
    case .end:
      guard await app.currentState.followUp?.isOpen == true else {
        return PhoneReply(
          .badInput, "There is nothing to end: no keys of following days are shared.")
      }
      try await app.endFollowingDays()
    }
    let report = Self.followingDays(of: await app.currentState)
    guard let failure else { return PhoneReply(.done, report?.words ?? "", report) }
    let text = Catalogues.installed.followingDaysText(of: failure.name) ?? failure.description
    return PhoneReply(failure.replyStatus, text, report)
  }
}
