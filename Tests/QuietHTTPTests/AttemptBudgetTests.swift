import QuietHTTP
import Testing
import World

@Suite("Attempt budgets")
struct AttemptBudgetTests {
  let clock = HandClock()
  let keys = BudgetKeys(from: SystemRandomness())

  @Test("The last attempt of a budget is allowed, the next one is told how long to wait")
  func spent() async {
    let budget = AttemptBudget(attempts: 3, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    for _ in 0..<3 { #expect(await budget.spend(key) == nil) }
    #expect(await budget.spend(key) == 60)
    clock.move(by: 59)
    #expect(await budget.spend(key) == 1)
    clock.move(by: 0.5)
    #expect(await budget.spend(key) == 1)
    clock.move(by: 0.5)
    #expect(await budget.spend(key) == nil)
  }

  @Test("The window slides: never more than the budget in any window")
  func slides() async {
    let budget = AttemptBudget(attempts: 2, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    #expect(await budget.spend(key) == nil)
    clock.move(by: 50)
    #expect(await budget.spend(key) == nil)
    clock.move(by: 10)
    #expect(await budget.spend(key) == nil)
    #expect(await budget.spend(key) == 50)
  }

  @Test("A refused attempt costs nothing and does not lengthen the wait")
  func refusedIsFree() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    #expect(await budget.spend(key) == nil)
    for second in 0..<60 {
      #expect(await budget.spend(key) == 60 - second)
      clock.move(by: 1)
    }
    #expect(await budget.spend(key) == nil)
  }

  @Test("One key's attempts do not count for another")
  func keysAreApart() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    #expect(await budget.spend(keys.key(for: "one")) == nil)
    #expect(await budget.spend(keys.key(for: "two")) == nil)
    #expect(await budget.spend(keys.key(for: "one")) == 60)
  }

  @Test("An attempt that is given back can be made again")
  func givenBack() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    #expect(await budget.spend(key) == nil)
    await budget.giveBack(key)
    await budget.giveBack(key)
    #expect(await budget.keyCount == 0)
    #expect(await budget.spend(key) == nil)
    #expect(await budget.spend(key) == 60)
  }

  @Test("As many keys as the limit are remembered, one more makes room and is remembered")
  func boundedMemory() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 1_000, keysMax: 10, clock: clock)
    for number in 0..<10 {
      #expect(await budget.spend(keys.key(for: "\(number)")) == nil)
      clock.move(by: 1)
    }
    #expect(await budget.keyCount == 10)
    #expect(await budget.spend(keys.key(for: "10")) == nil)
    #expect(await budget.keyCount == 6)
    #expect(await budget.spend(keys.key(for: "10")) != nil)
    #expect(await budget.spend(keys.key(for: "9")) != nil)
    #expect(await budget.spend(keys.key(for: "0")) == nil)
  }

  @Test("Keys whose window is over make room before any other does")
  func expiredGoFirst() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, keysMax: 4, clock: clock)
    for name in ["a", "b", "c"] { _ = await budget.spend(keys.key(for: name)) }
    clock.move(by: 60)
    _ = await budget.spend(keys.key(for: "d"))
    _ = await budget.spend(keys.key(for: "e"))
    #expect(await budget.keyCount == 2)
    #expect(await budget.spend(keys.key(for: "d")) != nil)
  }

  @Test("A clock that is set back locks nobody out")
  func clockSetBack() async {
    let budget = AttemptBudget(attempts: 1, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    #expect(await budget.spend(key) == nil)
    clock.move(by: -3_600)
    #expect(await budget.spend(key) == nil)
  }

  @Test("Many at once never get more than the budget")
  func concurrent() async {
    let budget = AttemptBudget(attempts: 10, windowSeconds: 60, clock: clock)
    let key = keys.key(for: "somebody")
    let allowed = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 { group.addTask { await budget.spend(key) == nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(allowed == 10)
  }
}
