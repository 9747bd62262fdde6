// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The stores of one process with a console's database.
struct ConsoleScene {
  let clock: ManualClock
  let administration: ConsoleAdministration
  /// The requests for changes.
  let proposals: ProposalStore
  private let configuration: ConsoleConfiguration

  /// Opens a new database.
  init(
    _ engine: ConsoleEngine, in folder: TemporaryFolder,
    _ clock: ManualClock = ManualClock(RunningConsole.start)
  ) async throws {
    try self.init(
      at: await engine.newDatabase(), file: folder.path("console.sqlite"),
      Data(repeating: 7, count: ConsoleConfiguration.secretBytes), clock)
  }

  /// Opens the database at `address`, or in `file` without one.
  init(
    at address: PostgreSQLAddress?, file: URL, _ secret: Data,
    _ clock: ManualClock = ManualClock(RunningConsole.start)
  ) throws {
    var configuration = ConsoleConfiguration(databaseFile: file, secret: secret)
    configuration.databaseAddress = address
    configuration.auditStart = .empty
    configuration.scryptCostLog = 4
    try self.init(configuration, clock)
  }

  private init(_ configuration: ConsoleConfiguration, _ clock: ManualClock) throws {
    self.configuration = configuration
    self.clock = clock
    administration = try ConsoleAdministration(
      configuration, clock: clock, randomness: SystemRandomness())
    let composition = administration.composition
    proposals = ProposalStore(
      database: composition.database, audit: composition.audit, clock: clock,
      kind: .administration)
  }

  /// Another process with the same database and clock.
  func another() throws -> ConsoleScene { try ConsoleScene(configuration, clock) }

  /// Another process with the same database, and a clock that is ahead of this one.
  func another(ahead seconds: Int64) throws -> ConsoleScene {
    try ConsoleScene(configuration, ManualClock(clock.now + TimeInterval(seconds)))
  }

  var database: ConsoleDatabase { administration.composition.database }
  var audit: AuditLog { administration.composition.audit }
  var accounts: AccountStore { administration.composition.accounts }
  var links: AccountLinks { administration.composition.links }
  var passkeys: PasskeyStore { PasskeyStore(database: database, audit: audit, clock: clock) }
  var issuedCodes: IssuedCodeStore { IssuedCodeStore(database: database, clock: clock) }
  var sessions: SessionStore {
    SessionStore(
      database: database, audit: audit, keys: administration.composition.keys, clock: clock,
      randomness: SystemRandomness())
  }
  var signIn: SignIn {
    SignIn(accounts: accounts, passwords: administration.composition.passwordChecks())
  }

  /// The account with this name; an administrator if it is new.
  func account(_ name: String) async throws -> Account {
    if let known = try await accounts.account(named: name) { return known }
    _ = try await administration.addAccount(name: name, role: .administrator)
    return try #require(try await accounts.account(named: name))
  }

  /// The number of a new request.
  func request(
    _ change: ConsoleChange = .rotateSigningKey(server: .keys), by author: Account,
    about account: Account? = nil
  ) async throws -> Int64 {
    let draft = ProposalStore.Draft(
      document: try change.document, summary: change.summary, reason: "x", accountID: account?.id)
    #expect(try await proposals.add(draft, by: author, openMax: 10) == .stored)
    return try #require(try await proposals.open().last?.id)
  }

  /// Runs a statement, as another version or an attacker would.
  func change(_ sql: String) async throws {
    try await database.write { try $0.execute(sql: sql) }
  }

  /// The details of the actions of one kind in the audit log, oldest first.
  func details(_ action: AuditAction) async throws -> [String] {
    try await audit.newest(1_000, matching: AuditFilter(action: action.rawValue))
      .reversed().map(\.detail)
  }
}
