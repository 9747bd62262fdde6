// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing

@testable import HealthAuthorityConsole

@Suite("The database of the console")
struct ConsoleDatabaseTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.path("console.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func database(
    schema: DatabaseSchema = ConsoleDatabase.schema, secret: UInt8 = 7
  ) throws -> ConsoleDatabase {
    let keys = try #require(ConsoleKeys(Data(repeating: secret, count: 32), byteCount: 32))
    return try ConsoleDatabase(file: file, keys: keys, schema: schema)
  }

  @Test("The write-ahead log is synced at each commit, and deleted data is overwritten")
  func settings() async throws {
    // The second time the file exists and has a log.
    for _ in 0..<2 {
      let database = try ServerDatabase.open(file, schema: ConsoleDatabase.schema)
      let settings = try await database.write { db in
        try ["journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout"].map {
          try String.fetchOne(db, sql: "PRAGMA \($0)")
        }
      }
      #expect(settings == ["wal", "2", "1", "1", "5000"])
    }
  }

  @Test("Only the owner may read the database files")
  func permissions() throws {
    let database = try database()
    for file in folder.files() {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file.lastPathComponent)")
    }
    withExtendedLifetime(database) {}
  }

  @Test(
    "Counters of failures are removed after their window, also without a further failure",
    .needs(.process))
  func oldCounters() async throws {
    let address = try #require(try await ConsoleEngine.postgresql.newDatabase())
    let secret = Data(repeating: 7, count: ConsoleConfiguration.secretBytes)
    let scene = try ConsoleScene(at: address, file: file, secret)
    for (part, end) in [(1, 1), (2, Int64.max)] {
      try await scene.change(
        "INSERT INTO budget VALUES (1, decode(repeat('00', 16), 'hex'), \(part), 1, 0, \(end))")
    }
    try await RunningConsole.run(
      in: folder.url, configure: { $0.databaseAddress = address }
    ) { _ async throws in
      try await Patience.until {
        try await scene.database.read { db in
          try db.rows(sql: "SELECT part FROM budget").map { row -> Int64 in row["part"] }
        } == [2]
      }
    }
  }

  @Test("A database of another secret is refused and not migrated")
  func otherSecret() async throws {
    _ = try database()
    var newer = ConsoleDatabase.schema
    newer.migrations.registerMigration("schema 99") { db in
      try db.execute(sql: "ALTER TABLE account ADD COLUMN note TEXT")
    }
    #expect(throws: ServerDatabaseError.otherSecret) { try database(schema: newer, secret: 8) }
    // With the migration, this version would refuse it as newer.
    _ = try database()
  }

  @Test("A database of a newer version is refused, for the console and for commands")
  func newer() async throws {
    var schema = ConsoleDatabase.schema
    schema.migrations.registerMigration("schema 99") { db in
      try db.execute(sql: "ALTER TABLE account ADD COLUMN note TEXT")
    }
    _ = try database(schema: schema)
    #expect(throws: ServerDatabaseError.newer) { try database() }
    await #expect(throws: ConsoleError.newerDatabase) {
      try await RunningConsole.run(in: folder.url) { _ in }
    }
  }

  @Test(
    "After the file is deleted or replaced, nothing is acknowledged, and the fault is reported",
    arguments: [false, true])
  func lost(isReplaced: Bool) async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      await console.console.checkStoredData()
      #expect(console.console.faults.isEmpty)
      let kept = file.appendingPathExtension("kept")
      try FileManager.default.moveItem(at: file, to: kept)
      if isReplaced { try FileManager.default.copyItem(at: kept, to: file) }
      let refused = try await browser.ask("/accounts", ["name": "Berta", "role": "issuer"])
      #expect(refused.status == 503 && refused.text.contains("Nothing can be stored"))
      let signIn = try await console.browser().post(
        "/sign-in", ["name": "Anna", "password": "x", "code": "1"])
      #expect(signIn.status == 503)
      #expect(try await browser.get("/own").status == 200)
      let reason = "deleted or replaced"
      #expect(
        console.log.lines.contains { $0.hasPrefix("error page failed") && $0.contains(reason) })
      try await Patience.until {
        console.clock.advance(by: ConsoleLimit.checkPeriodSeconds)
        return !console.console.faults.isEmpty
      }
      #expect(console.console.faults.contains { $0.contains(reason) })
      #expect(console.log.errors.contains { $0.contains(reason) })
    }
  }

  @Test("In a damaged database nothing is stored until a check finds no fault")
  func damaged() async throws {
    let database = try ServerDatabase.open(file, schema: ConsoleDatabase.schema)
    let insert = "INSERT INTO sign_in_failure (name_hash, at) VALUES (x'00', 1)"
    try await database.write { try $0.execute(sql: insert) }
    let (page, pageBytes) = try await database.pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      return (
        try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'proposal'"),
        try Int.fetchOne(db, sql: "PRAGMA page_size")
      )
    }
    let offset = try (#require(page) - 1) * #require(pageBytes)
    let whole = try Data(contentsOf: file)[offset..<(offset + 64)]
    try overwrite(with: Data(count: 64), at: offset)
    // A transaction of the writing connection empties the caches of the others.
    try await database.write { try $0.execute(sql: insert) }
    #expect(try await database.check { _ in } == nil)
    await #expect(throws: ServerDatabaseError.damaged) {
      try await database.write { try $0.execute(sql: insert) }
    }
    try overwrite(with: whole, at: offset)
    try await database.pool.write { try $0.execute(sql: insert) }
    #expect(try await database.check { _ in } != nil)
    try await database.write { try $0.execute(sql: insert) }
  }

  private func overwrite(with bytes: Data, at offset: Int) throws {
    let handle = try FileHandle(forUpdating: file)
    try handle.seek(toOffset: UInt64(offset))
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}
