// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One counter: the failures in the window, oldest first, and the number of running attempts.
struct FailureTally: Sendable {
  private(set) var failures: ArraySlice<Date> = []
  var reserved = 0

  var isEmpty: Bool { failures.isEmpty && reserved == 0 }

  /// The order in which counters are evicted from a full memory.
  var evictionOrder: (Int, Date) { (failures.count, failures.last ?? .distantFuture) }

  /// Removes failures outside the window, and failures in the future, which precede a clock change.
  mutating func expire(at now: Date, after windowSeconds: Int) {
    while let first = failures.first, now.timeIntervalSince(first) >= Double(windowSeconds) {
      failures.removeFirst()
    }
    while let last = failures.last, last > now { failures.removeLast() }
    // `removeFirst` of a slice does not free memory.
    if failures.startIndex > failures.count + 16 { failures = ArraySlice(Array(failures)) }
  }

  mutating func end(hasFailed: Bool, at now: Date) {
    reserved -= 1
    if hasFailed { add(at: now) }
  }

  /// Adds a failure, and removes the oldest one if there are more than `limit`.
  mutating func add(at now: Date, atMost limit: Int = .max) {
    failures.append(now)
    if failures.count > limit { failures.removeFirst() }
  }

  /// The seconds until there are fewer failures than `limit`, at least 1; nil if there are fewer now.
  func secondsToWait(_ limit: Int, at now: Date, windowSeconds: Int) -> Int? {
    guard failures.count >= limit else { return nil }
    let lastToExpire = failures[failures.startIndex + failures.count - limit]
    let seconds = Double(windowSeconds) - now.timeIntervalSince(lastToExpire)
    return max(1, Int(seconds.rounded(.up)))
  }
}
