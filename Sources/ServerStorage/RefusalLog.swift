// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServerMetrics
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
  private let counted: CoarseCounts
  private let clock: any WallClock
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameters:
  ///   - subject: The refused requests in the log, such as `uploads`.
  ///   - causes: All causes.
  ///   - clock: The clock of the windows.
  ///   - randomness: The source of the rounding of metrics.
  ///   - logger: The log.
  package init(
    of subject: String, causes: [String], clock: any WallClock, randomness: any Randomness,
    logger: Logger
  ) {
    self.subject = subject
    counted = CoarseCounts(causes, clock: clock, randomness: randomness)
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
  ///   - requestLogger: The log of the request, with its identity.
  package func record(
    _ cause: String, route: String, detail: String? = nil, advice: String, requestLogger: Logger
  ) {
    let text = [cause, detail].compactMap(\.self).joined(separator: ": ")
    requestLogger.info("refused \(route): \(text)")
    counted.add(cause)
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

  /// Counts a refusal that the log has already, in the metrics only.
  package func count(_ cause: String) { counted.add(cause) }

  /// The refusals as a metric, which shows no single one.
  package var family: MetricFamily {
    MetricFamily(
      "firebreak_refusals_total", .counter,
      help: "Refused requests by cause, in steps of ten, up to ten minutes late.", by: "cause",
      counted.shown)
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
