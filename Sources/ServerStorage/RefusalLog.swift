// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import World

/// Counts refused requests by cause. A cause that becomes frequent is logged at level error.
///
/// A cause contains no data of a request, so the counts reveal nothing about a user.
package final class RefusalLog: Sendable {
  /// The number of refusals of one cause in a window that is logged, and again at every tenfold of it.
  package static let frequentCount = 10
  /// The window in seconds.
  package static let windowSeconds: TimeInterval = 600

  private struct Window {
    var begin: Date
    var count = 0
  }

  private struct State {
    var totals: [String: Int] = [:]
    var windows: [String: Window] = [:]
  }

  private let subject: String
  private let clock: any WallClock
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameter subject: The refused requests in the log, such as `uploads`.
  package init(of subject: String, clock: any WallClock, logger: Logger) {
    self.subject = subject
    self.clock = clock
    self.logger = logger
  }

  /// Counts one refusal.
  ///
  /// - Parameters:
  ///   - cause: The cause in a few words; one of a fixed set.
  ///   - route: The route of the request.
  ///   - detail: More about this refusal, such as the difference of clocks, without personal data.
  ///   - advice: The remedy that the operator can try if the cause is frequent.
  package func record(_ cause: String, route: String, detail: String? = nil, advice: String) {
    let text = [cause, detail].compactMap(\.self).joined(separator: ": ")
    logger.info("refused \(route): \(text)")
    let now = clock.now
    let (count, totals) = state.withLock { state in
      state.totals[cause, default: 0] += 1
      var window = state.windows[cause] ?? Window(begin: now)
      if abs(now.timeIntervalSince(window.begin)) >= Self.windowSeconds {
        window = Window(begin: now)
      }
      window.count += 1
      state.windows[cause] = window
      return (window.count, state.totals)
    }
    guard Self.isLogged(count) else { return }
    let sums = totals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    logger.error(
      """
      many \(subject) are refused: \(count) in \(Int(Self.windowSeconds)) seconds, \(text); \(advice). \
      Since the start: \(sums.joined(separator: ", "))
      """)
  }

  /// The refusals since the start by cause.
  package var counts: [String: Int] { state.withLock { $0.totals } }

  /// True for `frequentCount` and its products with powers of ten.
  private static func isLogged(_ count: Int) -> Bool {
    var limit = frequentCount
    while limit < count { limit *= 10 }
    return limit == count
  }
}
