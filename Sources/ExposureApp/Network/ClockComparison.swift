// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The difference between the phone's clock and the time that the responses of a server state.
struct ClockComparison: Sendable, Equatable {
  /// The seconds by which the phone's clock is ahead; negative if it is behind. `nil` without a response that states
  /// the time.
  private(set) var secondsAhead: TimeInterval?

  /// Records a response to a request that was sent at `sent`. Times in between are the same: the network may be slow.
  ///
  /// Only documents of the server count, because a network that answers in its place may have another clock. A cache
  /// may state an old date, which makes the phone seem to be ahead: the least such difference counts.
  mutating func note(_ response: NetworkResponse, sent: Date, received: Date) {
    guard let date = response.date, [200, 304].contains(response.status), !response.isPage
    else { return }
    let ahead = max(0, sent.timeIntervalSince(date))
    let behind = max(0, date.timeIntervalSince(received))
    secondsAhead = min(secondsAhead ?? .infinity, ahead - behind)
  }
}
