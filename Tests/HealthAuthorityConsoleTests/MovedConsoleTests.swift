// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The copies of the console's database between files and PostgreSQL.
@Suite("Database of the console: moves", .needs(.process)) struct MovedConsoleTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let secret = Data(repeating: 7, count: ConsoleConfiguration.secretBytes)

  private let folder: TemporaryFolder
  private var file: URL { folder.path("console.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A console in a file with a row in each table, and a removed request with the last number.
  private func filled() async throws -> (scene: ConsoleScene, session: Session) {
    let scene = try await ConsoleScene(.sqlite, in: folder)
    let (anna, berta) = (try await scene.account("Anna"), try await scene.account("Berta"))
    let jan = try await scene.accounts.add(name: "Jan Żak", role: .issuer, by: "Anna")
    try await scene.database.write {
      try scene.links.store(scene.links.newToken(), for: jan, by: anna, in: $0)
    }
    _ = try await scene.signIn.attempt(name: "Nobody", password: "x", code: "1")
    let passkey = PasskeyCeremony.Credential(
      id: Data([0, 255]), publicKey: Data([1]), signCount: 9)
    let challenge = PasskeyChallenges.Challenge(
      bytes: Data([3]), expiresAt: scene.clock.now.unixSecond + 600)
    #expect(try await scene.passkeys.add(passkey, name: "key", to: anna, with: challenge))
    let number = try await scene.request(by: anna)
    #expect(try await scene.proposals.decide(number, .approved, by: berta) == .decided)
    let draft = ProposalStore.Draft(document: "{\"ä\":\"\\\"\"}", reason: "two\nlines")
    let alone = try #require(try await scene.proposals.addAlone(draft, hours: 1, by: anna))
    try await scene.proposals.removeAlone(alone)
    let codes = (0..<3).map { _ in CodeRequest(uuid: UUID(), testType: .confirmed) }
    try await scene.issuedCodes.add(codes, by: jan)
    return (scene, try await scene.sessions.start(for: anna, with: "test"))
  }

  /// The database at `address` as a command opens it: as the target of a move it must belong to no secret.
  private func database(
    _ address: PostgreSQLAddress, secret: Data? = nil
  ) -> PostgreSQLServerDatabase {
    HealthAuthorityConsole.database(at: address, secret: secret, logger: Self.logger)
  }

  /// The console on the database at `address`; nil for the file `file`.
  private func console(_ address: PostgreSQLAddress?, in file: URL? = nil) throws -> ConsoleScene {
    try ConsoleScene(at: address, file: file ?? folder.path("unused.sqlite"), Self.secret)
  }

  /// Everything that the stores read, of two consoles with equal data.
  private func expectSame(_ old: ConsoleScene, _ new: ConsoleScene) async throws {
    let accounts = try await old.accounts.all()
    #expect(try await new.accounts.all() == accounts && accounts.count == 3)
    for account in accounts {
      let credentials = try await old.accounts.credentials(of: account)
      let moved = try await new.accounts.credentials(of: account)
      #expect(moved?.password.text == credentials?.password.text)
      #expect(moved?.generator.secret == credentials?.generator.secret)
      #expect(try await new.passkeys.passkeys(of: account) == old.passkeys.passkeys(of: account))
      let codes = try await old.issuedCodes.codes(of: account, search: "", skip: 0, countMax: 9)
      #expect(
        try await new.issuedCodes.codes(of: account, search: "", skip: 0, countMax: 9) == codes)
    }
    #expect(try await new.audit.newest(100) == old.audit.newest(100))
    #expect(try await new.administration.audit().fault == nil)
    #expect(try await new.proposals.decided(10) == old.proposals.decided(10))
  }

  @Test("From a file over two PostgreSQL servers to a file everything stays, and numbers go on")
  func around() async throws {
    let (old, session) = try await filled()
    let first = try await PrivatePostgreSQL.newPatientDatabase()
    let second = try await PrivatePostgreSQL.newPatientDatabase()
    do {
      let target = database(first)
      defer { target.close() }
      let rows = try await HealthAuthorityConsole.databaseMove.run(from: file, to: target)
      #expect(rows.count == 10 && rows.values.allSatisfy { $0 > 0 }, "\(rows)")
    }
    try await expectSame(old, try console(first))
    do {
      let (source, target) = (database(first, secret: Self.secret), database(second))
      defer {
        source.close()
        target.close()
      }
      try await waitForOthers(at: first)
      let moved = try await HealthAuthorityConsole.databaseMoveBetweenServers.run(
        from: source, to: target, at: old.clock.now)
      #expect(moved.rows.values.allSatisfy { $0 > 0 })
    }
    try await expectSame(old, try console(second))
    let back = folder.path("back.sqlite")
    do {
      let source = database(second, secret: Self.secret)
      defer { source.close() }
      try await waitForOthers(at: second)
      _ = try await HealthAuthorityConsole.databaseMoveToFile.run(
        from: source, toNew: back, at: old.clock.now)
    }
    let new = try console(nil, in: back)
    try await expectSame(old, new)
    #expect(try await new.sessions.session(session.token)?.account.name == "Anna")
    try await expectNewNumbers(in: new)
  }

  @Test("In PostgreSQL, the numbers of removed requests are not given again after a move")
  func numbers() async throws {
    _ = try await filled()
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let target = database(address)
    defer { target.close() }
    _ = try await HealthAuthorityConsole.databaseMove.run(from: file, to: target)
    try await expectNewNumbers(in: try console(address))
    await #expect(throws: DatabaseMove.Failure.notEmpty) {
      _ = try await HealthAuthorityConsole.databaseMove.run(from: file, to: target)
    }
  }

  /// Request 2 was removed, and there are three accounts and three codes.
  private func expectNewNumbers(in scene: ConsoleScene) async throws {
    let anna = try await scene.account("Anna")
    #expect(try await scene.request(by: anna) == 3)
    let ewa = try await scene.accounts.add(name: "Ewa", role: .issuer, by: "Anna")
    #expect(ewa.id == 4)
    let jan = try await scene.account("Jan Żak")
    let code = CodeRequest(uuid: UUID(), testType: .confirmed)
    try await scene.issuedCodes.add([code], by: jan)
    let newest = try await scene.issuedCodes.codes(of: jan, search: "", skip: 0, countMax: 1)
    #expect(newest.map(\.uuid) == [code.uuid])
  }

  @Test("A newer database, one of another secret and an empty one are refused, each by its name")
  func refused() async throws {
    var address = try await PrivatePostgreSQL.newPatientDatabase()
    let scene = try console(address)
    try await scene.administration.openDatabase()
    _ = try await scene.account("Anna")
    let other = try ConsoleScene(
      at: address, file: file, Data(repeating: 8, count: ConsoleConfiguration.secretBytes))
    await #expect(throws: ConsoleError.otherSecret) {
      try await other.administration.openDatabase()
    }
    try await scene.change("UPDATE schema_version SET version = version + 1")
    await #expect(throws: ConsoleError.newerDatabase) {
      try await console(address).administration.openDatabase()
    }
    address = try await PrivatePostgreSQL.newPatientDatabase()
    address.mayBeEmpty = false
    await #expect(throws: ConsoleError.emptyDatabase) {
      try await console(address).administration.openDatabase()
    }
    // A command that only reads creates no tables, whether or not a console was started.
    var configuration = ConsoleConfiguration(databaseFile: file, secret: Self.secret)
    configuration.databaseAddress = try await PrivatePostgreSQL.newPatientDatabase()
    let reading = try ConsoleAdministration(reading: configuration)
    await #expect(throws: ConsoleError.emptyDatabase) { _ = try await reading.audit() }
  }

  /// Waits until the sessions of earlier consoles have ended, which a move refuses.
  private func waitForOthers(at address: PostgreSQLAddress) async throws {
    let database = PostgreSQLDatabase(address, connections: 1, logger: Self.logger)
    defer { database.close() }
    try await Patience.until {
      try await database.transaction {
        try $0.run(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """
        ).firstInteger
      } == 0
    }
  }
}
