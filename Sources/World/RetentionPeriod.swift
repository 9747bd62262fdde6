// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The union of the retention periods before one or more times; data outside it may be removed.
package struct RetentionPeriod: Equatable, Sendable {
  /// The trusted time, and others that may be right. Empty if no time is trusted yet.
  package let times: [Date]

  /// The earliest time that may be right; the distant past if no time is trusted yet.
  package let earliest: Date

  /// A period before each of `times`, and before `wrong`: the clock's time if it is known to be wrong. Data is stored
  /// under it until the clock is right.
  package init(times: [Date], wrong: Date? = nil) {
    self.times = times + (wrong.map { [$0] } ?? [])
    earliest = times.min() ?? .distantPast
  }

  /// The times, or `now` while no time is trusted yet.
  package func times(orNow now: Date) -> [Date] { times.isEmpty ? [now] : times }

  /// True if there is one time, and data outside its period can be removed for good.
  package var isCertain: Bool { times.count == 1 }

  /// True if `date` is at most `seconds` before one of the times and at most a day after it. Without a
  /// trusted time every date is kept.
  package func keeps(_ date: Date, forSeconds seconds: TimeInterval) -> Bool {
    times.isEmpty
      || times.contains {
        (-ClockLimit.stepSeconds...seconds).contains($0.timeIntervalSince(date))
      }
  }
}
