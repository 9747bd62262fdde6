// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Failure budgets")
struct FailureBudgetTests {
  let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))

  func budget(
    _ limits: FailureLimits, alarm: @escaping @Sendable (FailureAlarm) -> Void = { _ in }
  ) -> FailureBudget {
    FailureBudget(limits, clock: clock, randomness: SystemRandomness(), alarm: alarm)
  }

  func address(_ text: String) -> NumericAddress? { NumericAddress(text) }

  /// The seconds to wait, or nil if the attempt was allowed.
  func attempt(
    _ budget: FailureBudget, from text: String = "192.0.2.1", on subject: String? = nil,
    weight: Double = 1, hasFailed: Bool = true
  ) async throws -> Int? {
    do {
      return try await budget.attempt(by: address(text), on: subject, weight: weight) {
        hasFailed ? .failed(nil) : .succeeded(nil)
      }
    } catch QuietRefusal.tooManyAttempts(let seconds) {
      return seconds
    }
  }

  /// True if the work of a wrong attempt was run.
  func isVerified(_ budget: FailureBudget, from text: String) async throws -> Bool {
    let isRun = Recorded(false)
    do {
      try await budget.attempt(by: address(text), on: nil) {
        isRun.change { $0 = true }
        return .failed(())
      }
    } catch is QuietRefusal {}
    return isRun.value
  }

  @Test("After the allowed failures the client waits until the first leaves the window")
  func spent() async throws {
    let budget = budget(FailureLimits(perAddress: 2, windowSeconds: 60))
    #expect(try await attempt(budget) == nil)
    clock.advance(by: 10)
    #expect(try await attempt(budget) == nil)
    #expect(try await attempt(budget) == 50)
    clock.advance(by: 49.5)
    #expect(try await attempt(budget) == 1)
    clock.advance(by: 0.5)
    #expect(try await attempt(budget) == nil)
    #expect(try await attempt(budget) == 10)
  }

  @Test("Successes and attempts that throw do not count")
  func successes() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    for _ in 0..<10 { #expect(try await attempt(budget, hasFailed: false) == nil) }
    for _ in 0..<10 {
      await #expect(throws: QuietRefusal.internalError) {
        try await budget.attempt(by: address("192.0.2.1"), on: nil) { () -> AttemptResult<Int> in
          throw QuietRefusal.internalError
        }
      }
    }
    #expect(await budget.keyCount == 0)
    #expect(try await attempt(budget) == nil)
    #expect(try await attempt(budget) == 60)
  }

  @Test("Simultaneous failures never exceed the limit")
  func concurrentFailures() async throws {
    let budget = budget(FailureLimits(perAddress: 10, windowSeconds: 60))
    let allowed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 { group.addTask { try await attempt(budget) == nil } }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(allowed == 10)
  }

  @Test("Of more simultaneous attempts than failures are allowed, all valid ones succeed")
  func concurrentSuccesses() async throws {
    let budget = budget(FailureLimits(perAddress: 3, windowSeconds: 60))
    let running = Recorded((now: 0, most: 0))
    let allowed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 {
        group.addTask {
          try await budget.attempt(by: address("192.0.2.1"), on: nil) {
            running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await Task.yield()
            running.change { $0.now -= 1 }
            return .succeeded(true)
          }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(allowed == 200)
    #expect(running.value.most <= 3)
  }

  @Test("An attempt that waits is refused if those before it fail, and leaves if it is cancelled")
  func waiting() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    let (hold, release) = AsyncStream<Bool>.makeStream()
    let first = Task {
      try await budget.attempt(by: address("192.0.2.1"), on: nil) {
        for await hasFailed in hold { return hasFailed ? .failed(0) : .succeeded(1) }
        return .succeeded(2)
      }
    }
    try await Patience.until { await budget.keyCount == 1 }
    let second = Task { try await attempt(budget) }
    let third = Task { try await attempt(budget) }
    try await Patience.until { await budget.waitingCount == 2 }
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
    release.yield(true)
    #expect(try await first.value == 0)
    #expect(try await second.value == 60)
  }

  @Test("IPv6 networks of 64, 56 and 48 bits have limits of their own, IPv4 addresses have one")
  func networks() async throws {
    let limits = FailureLimits(perAddress: 1, perSubnet: 2, perNetwork: 3, windowSeconds: 60)
    let budget = budget(limits)
    let attempts: [(String, Int?)] = [
      ("2001:db8:1:0::1", nil), ("2001:db8:1:0:9::1", 60), ("2001:db8:1:1::1", nil),
      ("2001:db8:1:2::1", 60), ("2001:db8:1:100::1", nil), ("2001:db8:1:200::1", 60),
      ("2001:db8:1:300::1", 60), ("2001:db8:2::1", nil), ("192.0.2.1", nil), ("192.0.2.2", nil),
      ("192.0.2.3", nil),
      ("192.0.2.4", nil), ("192.0.2.1", 60),
    ]
    for (text, wait) in attempts {
      #expect(try await attempt(budget, from: text) == wait, "\(text)")
    }
  }

  @Test("A subject has failures from all addresses together")
  func subjects() async throws {
    let budget = budget(FailureLimits(perAddress: 5, perSubject: 2, windowSeconds: 60))
    for number in 1...2 {
      #expect(try await attempt(budget, from: "192.0.2.\(number)", on: "a") == nil)
    }
    #expect(try await attempt(budget, from: "192.0.2.3", on: "a") == 60)
    #expect(try await attempt(budget, from: "192.0.2.3", on: "b") == nil)
  }

  @Test("The limits of addresses shrink with the used share of the total, each step with one alarm")
  func total() async throws {
    let alarms = Recorded<[FailureAlarm]>([])
    let limits = FailureLimits(perAddress: 20, total: 40, windowSeconds: 60)
    let budget = budget(limits) { alarm in
      // The alarm about addresses above their limits has a test of its own.
      if alarm != .beyondLimits { alarms.change { $0.append(alarm) } }
    }
    for _ in 0..<10 { #expect(try await attempt(budget) == nil) }
    #expect(alarms.value == [.slowed])
    // A tenth of 20.
    #expect(try await attempt(budget) == 60)
    for number in 2...6 {
      for wait in [nil, nil, 60] {
        #expect(try await attempt(budget, from: "192.0.2.\(number)") == wait)
      }
    }
    #expect(alarms.value == [.slowed, .guarded])
    for number in 10..<20 {
      for wait in [nil, 60] {
        #expect(try await attempt(budget, from: "192.0.2.\(number)") == wait)
      }
    }
    #expect(alarms.value == [.slowed, .guarded, .stopped])
    // Guesses of full weight are over, light ones go on.
    #expect(try await attempt(budget, from: "192.0.2.30", hasFailed: false) == 60)
    #expect(try await attempt(budget, from: "192.0.2.30", weight: 0.1, hasFailed: false) == nil)
    clock.advance(by: 60)
    for _ in 0..<10 { #expect(try await attempt(budget, from: "192.0.2.9") == nil) }
    #expect(alarms.value == [.slowed, .guarded, .stopped, .slowed])
  }

  @Test("One IPv6 /40 cannot use up the total")
  func region() async throws {
    let budget = budget(FailureLimits(perAddress: 30, total: 1_000, windowSeconds: 60))
    for network in 0..<256 {
      for host in 0..<8 {
        _ = try await attempt(
          budget, from: "2001:db8:\(String(0x1100 + network, radix: 16)):\(host)::1")
      }
    }
    #expect(await budget.pressure < 0.75)
    #expect(try await attempt(budget, from: "192.0.2.1", hasFailed: false) == nil)
  }

  @Test("Keys above the limit are evicted, the oldest first, but not those in use", arguments: [4])
  func boundedMemory(keys: Int) async throws {
    var limits = FailureLimits(perAddress: 1, windowSeconds: 1_000)
    limits.keysMax = keys
    let budget = budget(limits)
    try await budget.attempt(by: address("192.0.2.100"), on: nil) {
      () async throws -> AttemptResult<Void> in
      for number in 0..<9 {
        #expect(try await attempt(budget, from: "192.0.2.\(number)") == nil)
        clock.advance(by: 1)
      }
      return .failed(())
    }
    // Four addresses and the total.
    #expect(await budget.keyCount <= keys + 1)
    #expect(try await attempt(budget, from: "192.0.2.100") != nil)
    #expect(try await attempt(budget, from: "192.0.2.8") != nil)
    #expect(try await attempt(budget, from: "192.0.2.0") == nil)
  }

  @Test("A client does not evict its own failures with those of many other addresses")
  func evictionOrder() async throws {
    var limits = FailureLimits(perAddress: 3, windowSeconds: 1_000)
    limits.keysMax = 4
    let budget = budget(limits)
    for _ in 0..<3 { #expect(try await attempt(budget) == nil) }
    for round in 1...2 {
      for number in 10..<30 {
        clock.advance(by: 1)
        #expect(try await attempt(budget, from: "198.51.\(round).\(number)") == nil)
      }
      #expect(try await attempt(budget) == 1_000 - 20 * round)
    }
  }

  @Test("Failures in the future, after a clock change, are not counted")
  func clockSetBack() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    #expect(try await attempt(budget) == nil)
    clock.advance(by: -3_600)
    #expect(try await attempt(budget) == nil)
  }
}
