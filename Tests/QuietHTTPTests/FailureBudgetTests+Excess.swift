// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import QuietHTTP

/// The attempts of clients that have used up their failures.
extension FailureBudgetTests {
  @Test("A right attempt succeeds although others behind the address have used up its failures")
  func rightOnes() async throws {
    let budget = budget(FailureLimits(perAddress: 3, windowSeconds: 60))
    for number in 0..<50 { #expect(try await attempt(budget) == (number < 3 ? nil : 60)) }
    for _ in 0..<5 { #expect(try await attempt(budget, hasFailed: false) == nil) }
    // The failures above the limit do not make the wait longer.
    clock.advance(by: 60)
    #expect(try await attempt(budget) == nil)
  }

  @Test("A guess above the limit of an address keeps it above the limit for a whole window")
  func guessesKeepTheLimit() async throws {
    let budget = budget(FailureLimits(perAddress: 2, total: 1_000, windowSeconds: 60))
    for _ in 0..<2 { #expect(try await attempt(budget) == nil) }
    for _ in 0..<2 {
      clock.advance(by: 50)
      for _ in 0..<2 { #expect(try await attempt(budget) != nil) }
    }
    // The failures within the limit are older than the window.
    #expect(try await attempt(budget) == 60)
    #expect(try await attempt(budget, hasFailed: false) == nil)
    clock.advance(by: 60)
    #expect(try await attempt(budget) == nil)
  }

  @Test("If each attempt has a cost, none above the limit is made")
  func costly() async throws {
    var limits = FailureLimits(perAddress: 1, windowSeconds: 60)
    limits.verifiesExcess = false
    let budget = budget(limits)
    #expect(try await attempt(budget) == nil)
    #expect(try await attempt(budget, hasFailed: false) == 60)
  }

  @Test("Few attempts above the limits are verified at once, and those that wait have a limit")
  func boundedVerification() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    #expect(try await attempt(budget) == nil)
    let held = Held()
    for _ in 0..<QuietLimit.excessAttemptsMax { held.add(budget, address("192.0.2.1")) }
    try await Patience.until { held.running == QuietLimit.excessAttemptsMax }
    // As many as leave twice their number for other addresses.
    let count = (QuietLimit.waitingExcessAttemptsMax + 2) / 3
    for _ in 0..<count { held.add(budget, address("192.0.2.1")) }
    try await Patience.until { await budget.waitingCount == count }
    #expect(try await attempt(budget, hasFailed: false) == 60)
    held.release()
    #expect(try await held.count == QuietLimit.excessAttemptsMax + count)
    #expect(held.most == QuietLimit.excessAttemptsMax)
  }

  @Test("A waiting attempt above the limits goes before those of addresses that have had a turn")
  func turns() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    for host in 1...3 { #expect(try await attempt(budget, from: "192.0.2.\(host)") == nil) }
    let held = Held()
    for _ in 0..<QuietLimit.excessAttemptsMax { held.add(budget, address("192.0.2.1")) }
    try await Patience.until { held.running == QuietLimit.excessAttemptsMax }
    let order = Recorded<[String]>([])
    func waiting(_ host: Int) async throws -> Task<Int?, any Error> {
      let count = await budget.waitingCount
      let task = Task {
        try await budget.attempt(by: address("192.0.2.\(host)"), on: nil) {
          () async throws -> AttemptResult<Int?> in
          order.change { $0.append("\(host)") }
          return .succeeded(nil)
        }
      }
      try await Patience.until { await budget.waitingCount == count + 1 }
      return task
    }
    var tasks: [Task<Int?, any Error>] = []
    for host in [1, 1, 1, 1, 2, 2, 3] { tasks.append(try await waiting(host)) }
    held.releaseOne()
    for task in tasks { _ = try await task.value }
    #expect(order.value == ["2", "3", "2", "1", "1", "1", "1"])
    held.release()
    _ = try await held.count
  }

  @Test("The waiting attempts of an IPv6 /32 leave places for other addresses")
  func waitingProvider() async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    let addresses = (0..<1_200).map {
      "2001:db8:\(String(0x100 * ($0 % 256), radix: 16)):\($0 / 256)::1"
    }
    for text in addresses + ["192.0.2.1"] { _ = try await attempt(budget, from: text) }
    let held = Held()
    for text in addresses { held.add(budget, address(text)) }
    try await Patience.until {
      await budget.waitingCount + held.running + held.refusedCount == addresses.count
    }
    // Ten elevenths are taken.
    let waiting = await budget.waitingCount
    #expect(waiting == QuietLimit.waitingExcessAttemptsMax * 10 / 11 + 1)
    let refused = held.refusedCount
    held.add(budget, address("192.0.2.1"))
    try await Patience.until {
      await budget.waitingCount == waiting + 1 || held.refusedCount > refused
    }
    #expect(held.refusedCount == refused)
    held.release()
    #expect(try await held.count == addresses.count + 1 - refused)
  }

  @Test("Guesses of an address above its limit have a part of the total, and leave some for others")
  func guessesAboveTheLimit() async throws {
    let budget = budget(FailureLimits(perAddress: 2, total: 1_000, windowSeconds: 60))
    // A tenth of the total is 100: alone an address has a third of it.
    var verified = 0
    for _ in 0..<60 {
      verified += try await isVerified(budget, from: "192.0.2.1") ? 1 : 0
    }
    #expect(verified == 2 + 33)
    #expect(try await attempt(budget, hasFailed: false) == 60)
    // The next one still has half of what is left, after one third of that.
    for _ in 0..<2 { _ = try await attempt(budget, from: "192.0.2.2") }
    #expect(try await attempt(budget, from: "192.0.2.2", hasFailed: false) == nil)
    #expect(await budget.pressure < 0.01)
  }

  @Test(
    "Ten and eighty guessing addresses slow no others down, and a right attempt behind three wrong ones is served",
    arguments: [10, 80])
  func manyAboveTheLimit(addresses: Int) async throws {
    let alarms = Recorded<[FailureAlarm]>([])
    let budget = budget(FailureLimits(perAddress: 30, total: 12_000, windowSeconds: 600)) { alarm in
      alarms.change { $0.append(alarm) }
    }
    for _ in 0..<340 {
      for number in 0..<addresses { _ = try await attempt(budget, from: "198.51.100.\(number)") }
    }
    #expect(alarms.value == [.beyondLimits])
    for _ in 0..<3 { _ = try await attempt(budget) }
    #expect(try await attempt(budget, hasFailed: false) == nil)
    // Also behind an address with all its wrong ones.
    for _ in 0..<32 { _ = try await attempt(budget) }
    #expect(try await attempt(budget, hasFailed: false) == nil)
  }

  @Test("Guesses above the limits raise an alarm at half of their part, once in each window")
  func alarmAboveTheLimit() async throws {
    let alarms = Recorded<[FailureAlarm]>([])
    let limits = FailureLimits(perAddress: 2, total: 1_000, windowSeconds: 60)
    let budget = budget(limits) { alarm in alarms.change { $0.append(alarm) } }
    for window in 1...2 {
      // A tenth of the total is 100, of which the first address has a third, and the next one a third of the rest.
      for _ in 0..<60 { _ = try await attempt(budget, from: "192.0.2.1") }
      #expect(alarms.value.count == window - 1)
      for host in [2, 3] {
        for _ in 0..<60 { _ = try await attempt(budget, from: "192.0.2.\(host)") }
        #expect(alarms.value == [FailureAlarm](repeating: .beyondLimits, count: window))
      }
      clock.advance(by: 60)
    }
  }

  @Test(
    "49 guesses above the limits of 100 that may be made raise no alarm, 50 and 51 raise one",
    arguments: [49, 50, 51])
  func alarmingShare(count: Int) async throws {
    let alarms = Recorded<[FailureAlarm]>([])
    let limits = FailureLimits(perAddress: 2, total: 1_000, windowSeconds: 60)
    let budget = budget(limits) { alarm in alarms.change { $0.append(alarm) } }
    // Alone, the first address has 33 of them, and the next one 22 of the rest.
    for number in 0..<count {
      let address = number < 33 ? "192.0.2.1" : "192.0.2.2"
      if number == 0 || number == 33 {
        for _ in 0..<2 { #expect(try await attempt(budget, from: address) == nil) }
      }
      #expect(alarms.value.count == (number > 49 ? 1 : 0))
      #expect(try await isVerified(budget, from: address), "\(number)")
    }
    #expect(alarms.value == [FailureAlarm](repeating: .beyondLimits, count: count < 50 ? 0 : 1))
  }

  @Test(
    "While codes are guessed, a right attempt behind three wrong ones is served",
    arguments: [FailureAlarm.slowed, .guarded, .stopped])
  func rightUnderPressure(alarm: FailureAlarm) async throws {
    let alarms = Recorded<[FailureAlarm]>([])
    let budget = budget(FailureLimits(perAddress: 30, total: 1_000, windowSeconds: 600)) { alarm in
      alarms.change { $0.append(alarm) }
    }
    for _ in 0..<3 { #expect(try await attempt(budget) == nil) }
    var number = 0
    while !alarms.value.contains(alarm), number < 2_000 {
      _ = try await attempt(budget, from: "10.0.\(number / 250).\(number % 250)")
      number += 1
    }
    #expect(alarms.value.last == alarm)
    #expect(try await attempt(budget, hasFailed: false) == nil)
  }

  @Test("All guesses together stay within the total, those above the limits included")
  func exactTotal() async throws {
    let budget = budget(FailureLimits(perAddress: 3, total: 1_000, windowSeconds: 60))
    let verified = Recorded(0)
    for _ in 0..<3 {
      for number in 0..<2_000 {
        if try await isVerified(budget, from: "10.0.\(number / 250).\(number % 250)") {
          verified.change { $0 += 1 }
        }
      }
    }
    #expect(verified.value <= 1_000 && verified.value > 800)
  }

  @Test(
    "Any number of guesses or texts that are no code from one address leave its IPv6 provider's failures to others",
    arguments: [0, 0.001])
  func oneClientOfAProvider(weight: Double) async throws {
    let budget = budget(FailureLimits(perAddress: 30, total: 100_000, windowSeconds: 600))
    for _ in 0..<2 {
      for _ in 0..<5_000 {
        _ = try await attempt(budget, from: "2001:db8:100:1::1", weight: weight)
      }
      for network in ["200", "1ff", "100:1ff"] {
        #expect(
          try await attempt(budget, from: "2001:db8:\(network)::1", weight: weight) == nil,
          "\(network)")
      }
      clock.advance(by: 300)
    }
  }

  @Test(
    "Behind twenty noisy addresses that have all places, a right attempt of another one is verified",
    arguments: ["192.0.2.1", "2001:db8::1"])
  func noisyWaiters(client: String) async throws {
    let budget = budget(FailureLimits(perAddress: 1, windowSeconds: 60))
    let noisy = (0..<20).map { "198.51.100.\($0)" }
    for text in noisy + [client] { _ = try await attempt(budget, from: text) }
    let held = Held()
    for (index, text) in noisy.enumerated() {
      for _ in 0..<30 { held.add(budget, address(text)) }
      try await Patience.until {
        await budget.waitingCount + held.running + held.refusedCount == (index + 1) * 30
      }
    }
    #expect(await budget.waitingCount == QuietLimit.waitingExcessAttemptsMax)
    let refused = held.refusedCount
    let right = held.add(budget, address(client))
    try await Patience.until { held.refusedCount == refused + 1 }
    #expect(await budget.waitingCount == QuietLimit.waitingExcessAttemptsMax)
    // A second one of the same address replaces none.
    #expect(try await attempt(budget, from: client, hasFailed: false) != nil)
    held.release()
    try await right.value
    _ = try await held.count
  }

  @Test("An attempt above the limits that has waited for a second is refused, and leaves its place")
  func deadline() async throws {
    var limits = FailureLimits(perAddress: 1, windowSeconds: 100_000)
    limits.waitingExcessMax = 3
    let budget = budget(limits)
    #expect(try await attempt(budget) == nil)
    let held = Held()
    for _ in 0..<QuietLimit.excessAttemptsMax { held.add(budget, address("192.0.2.1")) }
    try await Patience.until { held.running == QuietLimit.excessAttemptsMax }
    for refused in 1...2 {
      held.add(budget, address("192.0.2.1"))
      try await Patience.until { await budget.waitingCount == 1 }
      try await Patience.until {
        clock.advance(by: QuietLimit.excessWaitSecondsMax)
        return held.refusedCount == refused
      }
      #expect(await budget.waitingCount == 0)
    }
    held.release()
    #expect(try await held.count == QuietLimit.excessAttemptsMax)
  }

  @Test("Guesses above a limit count for the code too, and those of many networks for wider ones")
  func countedEverywhere() async throws {
    let budget = budget(
      FailureLimits(perAddress: 1, perSubject: 3, total: 100_000, windowSeconds: 60))
    // The address has one failure; the others are above its limit.
    for _ in 0..<3 { _ = try await attempt(budget, on: "a", weight: 0.001) }
    #expect(try await attempt(budget, from: "192.0.2.9", on: "a", hasFailed: false) == 60)
    #expect(try await attempt(budget, from: "192.0.2.9", on: "b", hasFailed: false) == nil)
    // Four networks of a /40 use up its sixteen failures, and four of these the 64 of the /32.
    for region in 1...4 {
      for number in 0..<80 {
        let (network, host) = (region * 0x100 + number % 4, number / 4 * 0x40)
        let text = "2001:db8:\(String(network, radix: 16)):\(String(host, radix: 16))::1"
        _ = try await attempt(budget, from: text, weight: 0.001)
      }
      #expect(try await attempt(budget, from: "2001:db8:\(region)ff::1", weight: 0.001) == 60)
      if region < 4 {
        #expect(try await attempt(budget, from: "2001:db8:9\(region)::1", weight: 0.001) == nil)
      }
    }
    #expect(try await attempt(budget, from: "2001:db8:500::1", weight: 0.001) == 60)
    #expect(try await attempt(budget, from: "2001:db9::1", weight: 0.001) == nil)
    // Right ones are served there.
    #expect(
      try await attempt(budget, from: "2001:db8:400::1", weight: 0.001, hasFailed: false) == nil)
  }
}
