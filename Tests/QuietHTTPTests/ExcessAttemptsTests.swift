// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import World

@testable import QuietHTTP

/// The memory of attempts of clients that have used up their failures.
@Suite("Attempts above the limits")
struct ExcessAttemptsTests {
  private static let start = Date(timeIntervalSince1970: 1_600_000_000)
  private let keys = BudgetKeys(from: SystemRandomness())

  /// Attempts of which a tenth of 1,000 may fail in a minute, with four groups in memory.
  private func attempts() -> ExcessAttempts {
    var limits = FailureLimits(perAddress: 1, total: 1_000, windowSeconds: 60)
    limits.keysMax = 4
    return ExcessAttempts(limits)
  }

  private func attempt(_ name: String, weight: Double) -> FailureAttempt {
    FailureAttempt(
      places: [FailureCounterKey(.address, keys.key(for: name))], weight: weight)
  }

  private func fail(
    _ attempts: inout ExcessAttempts, _ name: String, weight: Double, after seconds: Double = 0
  ) {
    let (attempt, now) = (attempt(name, weight: weight), Self.start + seconds)
    attempts.reserve(attempt, at: now)
    attempts.end(attempt, hasFailed: true, at: now)
  }

  /// True if `name` has room for an attempt because its failures have less weight than `most`: half of what is left to
  /// all, without its own, is left to an address.
  private func hasRoom(
    _ attempts: inout ExcessAttempts, _ name: String, lessThan most: Double, left: Double,
    after seconds: Double
  ) -> Bool {
    let attempt = attempt(name, weight: left / 2 - most)
    if case .admitted = attempts.verdict(on: attempt, at: Self.start + seconds) { return true }
    return false
  }

  @Test("Of too many groups the expired ones are forgotten first")
  func expired() {
    var attempts = attempts()
    for name in ["old", "older"] { fail(&attempts, name, weight: 1) }
    fail(&attempts, "small", weight: 1, after: 30)
    fail(&attempts, "large", weight: 20, after: 30)
    #expect(attempts.groupCount == 4)
    fail(&attempts, "new", weight: 3, after: 60)
    #expect(attempts.groupCount == 3)
    for (name, weight) in [("small", 1.0), ("large", 20), ("new", 3)] {
      #expect(
        !hasRoom(&attempts, name, lessThan: weight - 0.5, left: 76, after: 60), "\(name)")
    }
  }

  @Test("Of too many groups without expired ones the smaller half is forgotten, but none in use")
  func smallest() {
    var attempts = attempts()
    fail(&attempts, "large", weight: 20)
    let running = attempt("running", weight: 0.25)
    attempts.reserve(running, at: Self.start)
    fail(&attempts, "small", weight: 1)
    fail(&attempts, "medium", weight: 2)
    #expect(attempts.groupCount == 4)
    fail(&attempts, "new", weight: 3)
    // The large one, the one in use and the new one.
    #expect(attempts.groupCount == 3)
    #expect(hasRoom(&attempts, "small", lessThan: 0.5, left: 74, after: 0))
    #expect(!hasRoom(&attempts, "large", lessThan: 19.5, left: 74, after: 0))
    fail(&attempts, "small again", weight: 1)
    fail(&attempts, "last", weight: 2.5)
    #expect(attempts.groupCount == 3)
    #expect(!hasRoom(&attempts, "large", lessThan: 19.5, left: 70.5, after: 0))
    #expect(!hasRoom(&attempts, "last", lessThan: 2, left: 70.5, after: 0))
    attempts.end(running, hasFailed: true, at: Self.start)
    #expect(attempts.groupCount == 3)
  }
}
