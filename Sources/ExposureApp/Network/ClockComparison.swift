// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The difference between the phone's clock and the time that the documents of a server state.
struct ClockComparison: Sendable, Equatable {
  /// The seconds by which the phone's clock is ahead; negative if it is behind. `nil` without a document that states
  /// the time.
  private(set) var secondsAhead: TimeInterval?

  /// Records the difference of one document. A cache may state an old date, which makes the phone seem to be ahead: the
  /// least difference counts.
  mutating func note(secondsAhead: TimeInterval) {
    self.secondsAhead = min(self.secondsAhead ?? .infinity, secondsAhead)
  }
}

extension NetworkResponse {
  /// Returns the seconds by which the phone's clock is ahead of the stated time, for a request that was sent at `sent`;
  /// `nil` if the response states none, or is too old to tell. Times in between are the same: the network may be slow.
  ///
  /// Some caches pass on the server's date, others state their own; both state the age of the response. So the phone
  /// is ahead only if it is later than the date with the age, and behind only if it is earlier than the date alone.
  func secondsAhead(sent: Date, received: Date) -> TimeInterval? {
    guard let date, ageSeconds <= NetworkLimit.ageSecondsMax else { return nil }
    let ahead = max(0, sent.timeIntervalSince(date.addingTimeInterval(ageSeconds)))
    let behind = max(0, date.timeIntervalSince(received))
    return ahead - behind
  }
}
