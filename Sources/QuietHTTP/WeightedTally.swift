// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The weights of the failures of all clients in the window, and of the running attempts.
///
/// Failures at about the same time are added up, so that the memory is bounded. They leave the window together with
/// the last of them.
struct WeightedTally: Sendable {
  private var sums: [Sum] = []
  private(set) var reserved = 0.0

  private struct Sum {
    let first: Date
    var last: Date
    var weight: Double
  }

  /// True without failures and running attempts. The rest of a sum of weights is rounding.
  var isEmpty: Bool { sums.isEmpty && !isReserved }

  /// True with running attempts.
  var isReserved: Bool { reserved >= FailurePressure.rounding }

  /// The largest part of a window whose failures are added up.
  private static let shareOfWindow = 1.0 / 256

  /// The weight of the failures in the window.
  mutating func weight(at now: Date, windowSeconds: Int) -> Double {
    // A failure in the future precedes a clock change.
    sums.removeAll { $0.last > now || now.timeIntervalSince($0.last) >= Double(windowSeconds) }
    compact(Double(windowSeconds) * Self.shareOfWindow)
    return sums.reduce(0) { $0 + $1.weight }
  }

  mutating func reserve(_ weight: Double) { reserved += weight }

  mutating func end(_ weight: Double, hasFailed: Bool, at now: Date) {
    reserved = max(0, reserved - weight)
    guard hasFailed, weight > 0 else { return }
    if let last = sums.last, last.last == now {
      sums[sums.count - 1].weight += weight
    } else {
      sums.append(Sum(first: now, last: now, weight: weight))
    }
  }

  /// The seconds until the oldest failures leave the window, at least 1.
  func secondsToWait(at now: Date, windowSeconds: Int) -> Int {
    let age = sums.first.map { now.timeIntervalSince($0.last) } ?? 0
    return max(1, Int((Double(windowSeconds) - age).rounded(.up)))
  }

  /// Adds the newest sum to the one before it if both are of the same part of the window.
  private mutating func compact(_ seconds: TimeInterval) {
    guard sums.count > 1, let last = sums.last else { return }
    let before = sums[sums.count - 2]
    guard last.last.timeIntervalSince(before.first) < seconds else { return }
    sums.removeLast()
    sums[sums.count - 1].last = last.last
    sums[sums.count - 1].weight += last.weight
  }
}
