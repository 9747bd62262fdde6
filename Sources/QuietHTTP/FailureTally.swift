// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One counter: the failures in the window, oldest first, and the number of running attempts.
struct FailureTally: Sendable {
  private(set) var failures: ArraySlice<Date> = []
  var reserved = 0
  /// The time until which the failures count as used up, because of those of other processes; nil for none.
  var closedUntil: Date?

  var isEmpty: Bool { failures.isEmpty && reserved == 0 && closedUntil == nil }

  /// The order in which counters are evicted from a full memory.
  var evictionOrder: (Int, Date) { (failures.count, failures.last ?? .distantFuture) }

  /// Removes failures outside the window, and failures in the future, which precede a clock change.
  mutating func expire(at now: Date, after windowSeconds: Int) {
    while let first = failures.first, now.timeIntervalSince(first) >= Double(windowSeconds) {
      failures.removeFirst()
    }
    while let last = failures.last, last > now { failures.removeLast() }
    if let end = closedUntil,
      !(0..<Double(windowSeconds)).contains(end.timeIntervalSince(now)) || end == now
    {
      closedUntil = nil
    }
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
    if let closedUntil, closedUntil > now {
      return max(1, Int(closedUntil.timeIntervalSince(now).rounded(.up)))
    }
    guard failures.count >= limit else { return nil }
    let lastToExpire = failures[failures.startIndex + failures.count - limit]
    let seconds = Double(windowSeconds) - now.timeIntervalSince(lastToExpire)
    return max(1, Int(seconds.rounded(.up)))
  }
}
