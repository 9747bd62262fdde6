// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import SharedBudgets
import Synchronization
import TestSupport
import Testing
import VerificationAPI
import World

@testable import QuietHTTP
@testable import VerificationServer

/// Budgets of processes that share a database in PostgreSQL.
@Suite("Budgets of several processes", .needs(.process)) struct SharedBudgetTests {
  private let address: PostgreSQLAddress
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))

  init() async throws {
    address = try await PrivatePostgreSQL.newPatientDatabase()
  }

  /// The budget with the number `number` in a further process.
  ///
  /// - Parameter clock: Its clock, which is compared with that of the database; nil for the common one of the test.
  private func shared(
    _ number: Int16 = 1, clock own: ManualClock? = nil, counting: SharedBudget.Counting = .attempts
  ) -> SharedBudget {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let database = VerificationServer.database(at: address, logger: logger)
    return SharedBudget(
      PostgreSQLCounters(database, clock: own ?? clock, followsDatabase: own != nil),
      keys: BudgetKeys(secret: SymmetricKey(data: Data(repeating: 1, count: 32))), number: number,
      counting: counting)
  }

  private func budget(_ limits: FailureLimits) -> FailureBudget {
    FailureBudget(limits, clock: clock, randomness: SystemRandomness(), shared: shared())
  }

  /// The budget of a process with the clock `clock`.
  private func budget(_ limits: FailureLimits, at clock: ManualClock) -> FailureBudget {
    FailureBudget(
      limits, clock: clock, randomness: SystemRandomness(), shared: shared(clock: clock))
  }

  private struct Outcome: Equatable {
    var isRun = false
    var isRefused = false
  }

  private func attempt(
    _ budget: FailureBudget, from text: String = "192.0.2.1", on subject: String? = nil,
    hasFailed: Bool = true
  ) async throws -> Outcome {
    let isRun = RunFlag()
    do {
      let _: Bool = try await budget.attempt(by: NumericAddress(text), on: subject) {
        isRun.set()
        return hasFailed ? .failed(true) : .succeeded(true)
      }
      return Outcome(isRun: isRun.value)
    } catch QuietRefusal.tooManyAttempts {
      return Outcome(isRun: isRun.value, isRefused: true)
    }
  }

  @Test("Of concurrent failures in two processes, as many are run as one process would run")
  func strict() async throws {
    var limits = FailureLimits(perAddress: 10, windowSeconds: 80)
    limits.verifiesExcess = false
    let budgets = [budget(limits), budget(limits)]
    let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for number in 0..<40 {
        group.addTask { try await attempt(budgets[number % 2]) }
      }
      return try await group.reduce(into: [Outcome]()) { $0.append($1) }
    }
    #expect(outcomes.count { $0.isRun } == 10)
    #expect(outcomes.count { $0.isRefused } == 30)
  }

  @Test("Processes whose clocks differ by hours have one budget, and none removes that of another")
  func clocks() async throws {
    var limits = FailureLimits(perAddress: 2, windowSeconds: 8_000)
    limits.verifiesExcess = false
    let first = Date(timeIntervalSince1970: 1_600_000_000)
    let budgets = [0, -30_000, 30_000].map {
      budget(limits, at: ManualClock(first + TimeInterval($0)))
    }
    for _ in 0..<2 { #expect(try await attempt(budgets[0]) == Outcome(isRun: true)) }
    for budget in budgets { #expect(try await attempt(budget) == Outcome(isRefused: true)) }
  }

  @Test("A process whose clock is set keeps the budget, and removes none of the counters")
  func changedClock() async throws {
    var limits = FailureLimits(perAddress: 2, windowSeconds: 8_000)
    limits.verifiesExcess = false
    let (clock, other) = (
      ManualClock(Date(timeIntervalSince1970: 1_600_000_000)),
      ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
    )
    let (changed, constant) = (budget(limits, at: clock), budget(limits, at: other))
    for budget in [changed, constant] { #expect(try await attempt(budget) == Outcome(isRun: true)) }
    for seconds in [90_000.0, -180_000] {
      clock.advance(by: seconds)
      for budget in [changed, constant] {
        #expect(try await attempt(budget) == Outcome(isRefused: true), "\(seconds)")
      }
    }
  }

  @Test("At the boundary of a part, two processes run as many concurrent failures as one would")
  func boundary() async throws {
    var limits = FailureLimits(perAddress: 10, windowSeconds: 80)
    limits.verifiesExcess = false
    let time = Date(timeIntervalSince1970: 1_600_000_000)
    // The clocks of the processes are a second apart.
    let budgets = [-1.0, 0].map { seconds in
      let (clock, logger) = (
        ManualClock(time + seconds), Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      )
      let counters = PostgreSQLCounters(
        VerificationServer.database(at: address, logger: logger), clock: clock,
        followsDatabase: false)
      return FailureBudget(
        limits, clock: clock, randomness: SystemRandomness(),
        shared: SharedBudget(
          counters, keys: BudgetKeys(secret: SymmetricKey(data: Data(repeating: 1, count: 32))),
          number: 1))
    }
    let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for number in 0..<40 {
        group.addTask { try await attempt(budgets[number % 2]) }
      }
      return try await group.reduce(into: [Outcome]()) { $0.append($1) }
    }
    #expect(outcomes.count { $0.isRun } == 10)
  }

  @Test("Successes do not count, and failures leave the window in all processes")
  func window() async throws {
    var limits = FailureLimits(perAddress: 2, windowSeconds: 80)
    limits.verifiesExcess = false
    let budgets = [budget(limits), budget(limits)]
    for number in 0..<6 {
      #expect(try await attempt(budgets[number % 2], hasFailed: false) == Outcome(isRun: true))
    }
    for budget in budgets { #expect(try await attempt(budget) == Outcome(isRun: true)) }
    for budget in budgets { #expect(try await attempt(budget) == Outcome(isRefused: true)) }
    #expect(try await attempt(budgets[0], from: "192.0.2.2").isRun)
    // A window, and the part of a window in which failures are added up.
    clock.advance(by: 80)
    #expect(try await attempt(budgets[1]) == Outcome(isRefused: true))
    clock.advance(by: 11)
    for budget in budgets { #expect(try await attempt(budget) == Outcome(isRun: true)) }
  }

  @Test(
    "A client that has used up its failures elsewhere succeeds if it is right, and is refused if not"
  )
  func excess() async throws {
    let limits = FailureLimits(perAddress: 3, total: 1_000, windowSeconds: 80)
    let (first, second) = (budget(limits), budget(limits))
    for _ in 0..<3 { #expect(try await attempt(first) == Outcome(isRun: true)) }
    #expect(try await attempt(second) == Outcome(isRun: true, isRefused: true))
    #expect(try await attempt(second, hasFailed: false) == Outcome(isRun: true))
  }

  @Test("If only failures are counted, all processes have one limit, and a success costs no row")
  func failuresOnly() async throws {
    let limits = FailureLimits(perAddress: 3, windowSeconds: 80)
    let budgets = (0..<2).map { _ in
      FailureBudget(
        limits, clock: clock, randomness: SystemRandomness(), shared: shared(counting: .failures))
    }
    for budget in budgets {
      #expect(try await attempt(budget, hasFailed: false) == Outcome(isRun: true))
    }
    #expect(try await number("SELECT count(*) FROM budget") == 0)
    for _ in 0..<3 { #expect(try await attempt(budgets[0]) == Outcome(isRun: true)) }
    for budget in budgets {
      #expect(try await attempt(budget) == Outcome(isRun: true, isRefused: true))
      #expect(try await attempt(budget, hasFailed: false) == Outcome(isRun: true))
    }
    #expect(try await attempt(budgets[1], from: "192.0.2.2") == Outcome(isRun: true))
  }

  @Test("Of concurrent failures that are counted after their work, two processes answer one limit")
  func concurrentFailuresOnly() async throws {
    var limits = FailureLimits(perAddress: 10, windowSeconds: 80)
    limits.verifiesExcess = false
    let budgets = (0..<2).map { _ in
      FailureBudget(
        limits, clock: clock, randomness: SystemRandomness(), shared: shared(counting: .failures))
    }
    let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for number in 0..<40 {
        group.addTask { try await attempt(budgets[number % 2]) }
      }
      return try await group.reduce(into: [Outcome]()) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == Outcome(isRun: true) } == 10)
    // Those of the other process are found after the work.
    #expect(outcomes.count { $0 == Outcome(isRun: true, isRefused: true) } == 10)
  }

  @Test(
    "Without the database a failure that is counted after its work gets no answer, a success does")
  func failuresOnlyAway() async throws {
    let folder = try TemporaryFolder()
    var away = try PostgreSQLAddress("host=\(folder.url.path) user=x dbname=x")
    away.timeFactor = 0.1
    let database = VerificationServer.database(at: away, logger: Self.logger)
    let budget = FailureBudget(
      FailureLimits(perAddress: 3, windowSeconds: 80), clock: clock,
      randomness: SystemRandomness(),
      shared: SharedBudget(
        PostgreSQLCounters(database, clock: clock),
        keys: BudgetKeys(secret: SymmetricKey(data: Data(repeating: 1, count: 32))), number: 1,
        counting: .failures))
    #expect(try await attempt(budget, hasFailed: false) == Outcome(isRun: true))
    let refusal = QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    await #expect(throws: refusal) { try await attempt(budget) }
  }

  @Test("A counter is removed after its window by the next cleanup, without a further attempt")
  func removal() async throws {
    let budget = budget(FailureLimits(perAddress: 2, windowSeconds: 8_000), at: clock)
    #expect(try await attempt(budget) == Outcome(isRun: true))
    // It is stored a moment later.
    try await Patience.until {
      try await number("SELECT count(*) FROM budget WHERE failed > 0 AND running = 0") == 1
    }
    let storage = PostgreSQLCodeStorage(address, logger: Self.logger)
    _ = try await storage.removeExpired(at: clock.now, atMost: 10)
    #expect(try await number("SELECT count(*) FROM budget") == 1)
    // Its window has ended.
    _ = try await number("UPDATE budget SET ends_at = ends_at - 100000 RETURNING part")
    _ = try await storage.removeExpired(at: clock.now, atMost: 10)
    #expect(try await number("SELECT count(*) FROM budget") == 0)
  }

  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// Runs a statement, and returns the first number of its result.
  private func number(_ sql: String) async throws -> Int64? {
    try await VerificationServer.database(at: address, logger: Self.logger).transaction {
      try $0.run(sql).firstInteger
    }
  }

  @Test("A code has one limit over all processes, from whichever address")
  func subject() async throws {
    let limits = FailureLimits(perAddress: 100, perSubject: 4, windowSeconds: 80)
    let budgets = [budget(limits), budget(limits)]
    for number in 0..<4 {
      let from = "192.0.2.\(number)"
      #expect(try await attempt(budgets[number % 2], from: from, on: "c").isRun)
    }
    for budget in budgets {
      #expect(
        try await attempt(budget, from: "192.0.2.9", on: "c") == Outcome(isRefused: true))
    }
  }

  @Test(
    "The used share of the total is that of all processes, so that all of them make codes longer")
  func pressure() async throws {
    let limits = FailureLimits(perAddress: 100, total: 100, windowSeconds: 80)
    let (first, second) = (budget(limits), budget(limits))
    #expect(await second.currentPressure() < 0.01)
    for number in 0..<32 { _ = try await attempt(first, from: "192.0.2.\(number)") }
    clock.advance(by: 2)
    #expect(await second.currentPressure() >= 0.3)
    #expect(await first.pressure >= 0.3)
  }

  @Test(
    "The quota of an API key is one over all processes, and a code that was not stored is given back"
  )
  func quota() async throws {
    let quotas = (0..<2).map { _ in
      IssueQuota(
        AttemptLimits(issuesPerApiKey: 3), clock: clock, randomness: SystemRandomness(),
        shared: shared(7))
    }
    let key = APIKeyID(text: "0123456789abcdef")
    for number in 0..<3 { try await quotas[number % 2].count(under: key) }
    for quota in quotas {
      await #expect(throws: QuietRefusal.self) { try await quota.count(under: key) }
    }
    try await quotas[0].count(under: APIKeyID(text: "fedcba9876543210"))
    await quotas[1].refund(under: key)
    // A moment later for other processes.
    try await Patience.until {
      do throws(QuietRefusal) { try await quotas[0].count(under: key) } catch { return false }
      return true
    }
    await #expect(throws: QuietRefusal.self) { try await quotas[1].count(under: key) }
  }

  @Test("Two servers with one database refuse an address after as many wrong codes as one server")
  func servers() async throws {
    let (folder, limits) = (try TemporaryFolder(), AttemptLimits(perAddress: 6))
    func run(_ name: String, _ test: (RunningServer) async throws -> Void) async throws {
      let place = folder.path(name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try await RunningServer.run(
        in: place, attempts: limits,
        configure: {
          $0.trustedProxies = try #require(TrustedProxies(["127.0.0.1"]))
          $0.databaseAddress = address
        }, test)
    }
    func guess(_ server: RunningServer, from client: String) async throws -> Int {
      let form = CodeForm(.pin, 6)
      let code = VerificationCode.drawn(count: form.characterCount, from: SystemRandomness())
      return try await server.redeem(
        code.characters, headers: ["X-Forwarded-For": client]
      ).status
    }
    try await run("a") { first in
      try await run("b") { second in
        for number in 0..<6 {
          let status = try await guess(number % 2 == 0 ? first : second, from: "192.0.2.1")
          #expect(status != 429)
        }
        #expect(try await guess(first, from: "192.0.2.1") == 429)
        #expect(try await guess(second, from: "192.0.2.1") == 429)
        #expect(try await guess(second, from: "192.0.2.2") != 429)
      }
    }
  }
}

/// Remembers that the work of an attempt was run.
private final class RunFlag: Sendable {
  private let flag = Atomic(false)

  var value: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}
