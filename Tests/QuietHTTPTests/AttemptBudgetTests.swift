// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Attempt budgets")
struct AttemptBudgetTests {
  let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
  let keys = BudgetKeys(from: SystemRandomness())

  @Test("The last attempt of a budget is allowed, and the next one gets the time to wait")
  func spent() async {
    let budget = AttemptBudget(attempts: 3, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    for _ in 0..<3 { #expect(await budget.spend(key) == nil) }
    #expect(await budget.spend(key) == 60)
    clock.advance(by: 59)
    #expect(await budget.spend(key) == 1)
    clock.advance(by: 0.5)
    #expect(await budget.spend(key) == 1)
    clock.advance(by: 0.5)
    #expect(await budget.spend(key) == nil)
  }

  @Test("No window has more attempts than the budget")
  func slides() async {
    let budget = AttemptBudget(attempts: 2, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    #expect(await budget.spend(key) == nil)
    clock.advance(by: 50)
    #expect(await budget.spend(key) == nil)
    clock.advance(by: 10)
    #expect(await budget.spend(key) == nil)
    #expect(await budget.spend(key) == 50)
  }

  @Test("A rejected attempt is not counted and does not extend the wait")
  func refusedIsFree() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    #expect(await budget.spend(key) == nil)
    for second in 0..<60 {
      #expect(await budget.spend(key) == 60 - second)
      clock.advance(by: 1)
    }
    #expect(await budget.spend(key) == nil)
  }

  @Test("Every key has its own budget")
  func keysAreApart() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    #expect(await budget.spend(keys.key(for: "one")) == nil)
    #expect(await budget.spend(keys.key(for: "two")) == nil)
    #expect(await budget.spend(keys.key(for: "one")) == 60)
  }

  @Test("A refunded attempt can be made again")
  func givenBack() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    #expect(await budget.spend(key) == nil)
    await budget.refund(key)
    await budget.refund(key)
    #expect(await budget.keyCount == 0)
    #expect(await budget.spend(key) == nil)
    #expect(await budget.spend(key) == 60)
  }

  @Test("A key above the limit evicts the least recently used keys")
  func boundedMemory() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 1_000, keysMax: 10, clock: clock)
    for number in 0..<10 {
      #expect(await budget.spend(keys.key(for: "\(number)")) == nil)
      clock.advance(by: 1)
    }
    #expect(await budget.keyCount == 10)
    #expect(await budget.spend(keys.key(for: "10")) == nil)
    #expect(await budget.keyCount == 6)
    #expect(await budget.spend(keys.key(for: "10")) != nil)
    #expect(await budget.spend(keys.key(for: "9")) != nil)
    #expect(await budget.spend(keys.key(for: "0")) == nil)
  }

  @Test("Expired keys are evicted before others")
  func expiredGoFirst() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, keysMax: 4, clock: clock)
    for name in ["a", "b", "c"] { _ = await budget.spend(keys.key(for: name)) }
    clock.advance(by: 60)
    _ = await budget.spend(keys.key(for: "d"))
    _ = await budget.spend(keys.key(for: "e"))
    #expect(await budget.keyCount == 2)
    #expect(await budget.spend(keys.key(for: "d")) != nil)
  }

  @Test("Attempts in the future, after a clock change, are not counted")
  func clockSetBack() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    #expect(await budget.spend(key) == nil)
    clock.advance(by: -3_600)
    #expect(await budget.spend(key) == nil)
  }

  @Test("Concurrent attempts never exceed the budget")
  func concurrent() async {
    let budget = AttemptBudget(attempts: 10, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "client")
    let allowed = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 { group.addTask { await budget.spend(key) == nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(allowed == 10)
  }
}

@Suite("Budget keys")
struct BudgetKeyTests {
  let keys = BudgetKeys(from: SystemRandomness())

  private func key(_ address: String) -> BudgetKey { keys.key(for: AddressPrefix(address)) }

  @Test("IPv4 clients are distinguished by the whole address")
  func four() {
    #expect(key("192.0.2.1") == key("192.0.2.1"))
    #expect(key("192.0.2.1") != key("192.0.2.2"))
  }

  @Test("IPv6 clients are distinguished by the first 64 bits")
  func six() {
    #expect(key("2001:db8:1:2::1") == key("2001:db8:1:2:ffff:ffff:ffff:ffff"))
    #expect(key("2001:db8:1:2::1") != key("2001:db8:1:3::1"))
    #expect(key("fe80::1%eth0") == key("fe80::2"))
  }

  @Test("An IPv4-mapped address has the key of the IPv4 address")
  func mapped() {
    #expect(key("::ffff:192.0.2.1") == key("192.0.2.1"))
    #expect(key("::ffff:192.0.2.1") != key("::ffff:192.0.2.2"))
  }

  @Test(
    "An invalid address has no prefix", arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", ":::"])
  func noAddress(_ text: String) {
    #expect(AddressPrefix(text) == nil)
  }

  @Test("Keys differ between processes, and between a name and an address")
  func secret() {
    let others = BudgetKeys(from: SystemRandomness())
    #expect(key("192.0.2.1") != others.key(for: AddressPrefix("192.0.2.1")))
    #expect(keys.key(for: "192.0.2.1") != key("192.0.2.1"))
  }

  @Test("Keys and prefixes do not appear in printed or dumped values")
  func redacted() {
    let prefix = AddressPrefix("192.0.2.1")
    for value in [prefix as Any, key("192.0.2.1"), keys] {
      var text = "\(value)"
      dump(value, to: &text)
      #expect(!text.contains("192"))
      #expect(!text.contains("bytes"))
    }
  }
}
