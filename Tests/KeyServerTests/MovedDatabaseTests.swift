// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing
import World

@testable import KeyServer

/// The copy of the key database from SQLite to PostgreSQL.
@Suite("Key database: move to PostgreSQL", .needs(.process)) struct MovedDatabaseTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// A database in SQLite with uploads, revisions, closed periods, removals and an import.
  private func filled() async throws -> StoreScene {
    let scene = try await StoreScene(.sqlite, exports: [StoreScene.export(minimum: 5)])
    try await scene.accept(try (1...3).map { try StoreScene.key($0, travels: $0 == 2) })
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let later = StoreScene.now + 5 * StoreScene.hour
    try await scene.accept([try StoreScene.key(1, .revoked, released: later)], revising: true)
    try await scene.accept([try StoreScene.key(4, nil, released: later)])
    try await scene.close(at: StoreScene.now + 8 * StoreScene.hour)
    try await scene.accept(
      [try StoreScene.key(2, .confirmedTest, released: later)], revising: true)
    try await scene.store.add(
      HealthAuthority(issuer: "i", audience: "ä\"/", publicKeysPEM: ["k": "p\n", "l": "q"]))
    _ = try await scene.store.withdrawKey("l", of: "i", at: later)
    try await scene.store.add(AuthorizedApp(id: "a", regions: ["PL", "CZ"], authorities: ["i"]))
    try await scene.store.add(AuthorizedApp(id: "b", regions: [], authorities: []))
    _ = try await scene.store.removeApp("b")
    try await scene.store.add(
      SealedRevisionKey(id: "1", sealed: Data([0, 255]), effectiveFrom: later), forgetting: [])
    try await scene.store.keep(later)
    return scene
  }

  private func move(
    _ scene: StoreScene, to address: PostgreSQLAddress
  ) async throws -> [String: Int] {
    let target = KeyServer.database(at: address, logger: Self.logger)
    defer { target.close() }
    return try await KeyServer.databaseMove.run(
      from: scene.folder.path("keys.sqlite"), to: target)
  }

  @Test("Everything that can be read is the same after the move, and uploads go on")
  func same() async throws {
    let scene = try await filled()
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let rows = try await move(scene, to: address)
    #expect(rows["diagnosis_key"] == 10 && rows["key_revision"] == 2, "\(rows)")
    #expect(rows["removal"] == 1 && rows["export_file"] == 2, "\(rows)")
    let (old, new) = (
      scene.store, PostgreSQLKeyStore(address, exports: scene.exports, logger: Self.logger)
    )
    #expect(try await new.batches() == old.batches())
    for batch in try await old.batches() {
      let read: @Sendable (any KeyStore) async throws -> [DiagnosisKey] = { store in
        try await store.withKeys(of: batch) { keys in
          var all: [DiagnosisKey] = []
          try keys.forEach { key, _ in all.append(key) }
          return all
        }
      }
      #expect(try await read(new) == read(old))
    }
    #expect(try await new.registryEntries() == old.registryEntries())
    #expect(try await new.exportProgress() == old.exportProgress())
    #expect(try await new.revisionKeys() == old.revisionKeys())
    #expect(try await new.clockRecord() == old.clockRecord())
    #expect(
      try await Set(new.statistics(of: "codes", from: 0))
        == Set(old.statistics(of: "codes", from: 0)))
    #expect(try await new.check() == StoreCheck())
    // A key of SQLite is known, and can be revised.
    let revision = try StoreScene.upload(
      "later", [try StoreScene.key(4, .revoked)], revising: [try StoreScene.key(4).key.key])
    #expect(
      try await new.accept(revision)
        == .accepted(response: Data("StoredUploadCounts(0 inserted, 1 revised)".utf8)))
  }

  /// The database in PostgreSQL with the data of `filled()`, claimed by a secret, and with what only PostgreSQL has.
  private func filledCluster() async throws -> PostgreSQLAddress {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    _ = try await move(try await filled(), to: address)
    let store = PostgreSQLKeyStore(
      address, keys: StoreScene.databaseKeys, exports: [StoreScene.export(minimum: 5)],
      process: 7, logger: Self.logger)
    _ = try await store.accept(try StoreScene.upload("later", [try StoreScene.key(9)]))
    _ = try await store.accept(try StoreScene.upload("day", [try StoreScene.key(8)]))
    // Keys of another day, one of which counts as removed.
    try await store.write { transaction in
      try KeyPartition(day: StoreScene.now.unixDay - 20).create(transaction)
      try transaction.run(
        """
        INSERT INTO diagnosis_key SELECT released_at - 20 * 86400, checksum, rolling_start, report_type,
          days_since_onset, rolling_period, transmission_risk, travels, is_padding,
          decode(repeat('aa', 16), 'hex'), regions, $1 FROM diagnosis_key
        WHERE get_byte(key_data, 0) = 8 AND NOT is_padding
        """, .integer(StoreScene.now.unixDay - 20))
      _ = try transaction.run(
        "UPDATE server_state SET keys_from = $1", .integer(StoreScene.now.unixSecond - 86_400))
    }
    store.close()
    // The server notices later that a connection was closed.
    let server = try await PrivatePostgreSQL.shared()
    let sessions =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(address.databaseName)'"
    try await Patience.until { try await server.run(sessions) == 0 }
    return address
  }

  private func database(_ address: PostgreSQLAddress) -> PostgreSQLServerDatabase {
    KeyServer.database(at: address, logger: Self.logger)
  }

  /// Everything that a store returns.
  private struct Content: Equatable {
    let registry: RegistryEntries
    let progress: ExportProgress
    let revisionKeys: [SealedRevisionKey]
    let clock: ClockRecord
    let statistics: Set<StatisticCount>
    let batches: [Batch]
    var keys: [[DiagnosisKey]] = []

    init(of store: any KeyStore) async throws {
      registry = try await store.registryEntries()
      progress = try await store.exportProgress()
      revisionKeys = try await store.revisionKeys()
      clock = try await store.clockRecord()
      statistics = Set(try await store.statistics(of: "codes", from: 0))
      batches = try await store.batches()
      for batch in batches {
        keys.append(
          try await store.withKeys(of: batch) { keys in
            var all: [DiagnosisKey] = []
            try keys.forEach { key, _ in all.append(key) }
            return all
          })
      }
    }
  }

  /// Repeats `work` while the server has a session whose connection was closed.
  private func whenUnused<Value: Sendable>(
    _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    var result: Value?
    try await Patience.until {
      do { result = try await work() } catch DatabaseMove.Failure.inUse { return false }
      return true
    }
    return try #require(result)
  }

  @Test(
    "A database that is moved back to a file has the same content, and the old one is not used any more"
  )
  func back() async throws {
    let address = try await filledCluster()
    let exports = [StoreScene.export(minimum: 5)]
    let before = PostgreSQLKeyStore(address, exports: exports, logger: Self.logger)
    let content = try await Content(of: before)
    let folder = try TemporaryFolder()
    let file = folder.path("keys.sqlite")
    let move = KeyServer.databaseMoveToFile(withdrawn: [])
    // The sessions of the store are open.
    let refusal = await #expect(throws: DatabaseMove.Failure.self) {
      try await move.run(from: database(address), toNew: file, at: StoreScene.now)
    }
    guard case .inUse(let sessions) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    // The store may have read with several connections.
    #expect(sessions >= 1)
    before.close()
    // The server notices later that a connection was closed.
    let source = database(address)
    let retired = try await whenUnused {
      try await move.run(from: source, toNew: file, at: StoreScene.now)
    }
    #expect(retired.rows["diagnosis_key"] == 12 && retired.rows["statistic"] != 0, "\(retired)")
    let after = try SQLiteKeyStore(
      file: file, keys: StoreScene.databaseKeys, exports: exports, at: StoreScene.now)
    #expect(try await Content(of: after) == content)
    #expect(try await after.check() == StoreCheck())
    // A token stays used.
    let repeated = try StoreScene.upload("later", [try StoreScene.key(9)])
    #expect(try await after.acceptance(of: repeated) != nil)
    var old = address
    old.mayBeEmpty = false
    await #expect(throws: ServerDatabaseError.empty) { try await database(old).makeReady() }
    let kept = try await PrivatePostgreSQL.shared().run(
      "SELECT count(*) FROM \(retired.schema ?? "").upload", in: address.databaseName)
    #expect(kept == Int64(retired.rows["upload"] ?? 0))
  }

  @Test("A file that is moved to PostgreSQL and back has the same content, and can be moved again")
  func thereAndBack() async throws {
    let scene = try await filled()
    let exports = [StoreScene.export(minimum: 5)]
    let content = try await Content(of: scene.store)
    let folder = try TemporaryFolder()
    var file = scene.folder.path("keys.sqlite")
    for round in 1...2 {
      let address = try await PrivatePostgreSQL.newPatientDatabase()
      let target = database(address)
      _ = try await KeyServer.databaseMove.run(from: file, to: target)
      target.close()
      let (source, next) = (database(address), folder.path("keys-\(round).sqlite"))
      _ = try await whenUnused {
        try await KeyServer.databaseMoveToFile(withdrawn: []).run(
          from: source, toNew: next, at: StoreScene.now)
      }
      file = next
      let store = try SQLiteKeyStore(
        file: file, keys: StoreScene.databaseKeys, exports: exports, at: StoreScene.now)
      #expect(try await Content(of: store) == content, "round \(round)")
      #expect(try await store.check() == StoreCheck())
    }
  }

  @Test("A database that is moved to another server has the same rows")
  func between() async throws {
    let (address, other) = (
      try await filledCluster(), try await PrivatePostgreSQL.newPatientDatabase()
    )
    let source = PostgreSQLKeyStore(address, logger: Self.logger)
    let content = try await Content(of: source)
    source.close()
    let move = KeyServer.databaseMoveBetweenServers
    // One object for all attempts: each has sessions of its own.
    let (from, to) = (database(address), database(other))
    let retired = try await whenUnused {
      try await move.run(from: from, to: to, at: StoreScene.now)
    }
    // The key that counts as removed, too.
    #expect(retired.rows["diagnosis_key"] == 13, "\(retired)")
    let target = PostgreSQLKeyStore(
      other, keys: StoreScene.databaseKeys, exports: [StoreScene.export(minimum: 5)],
      logger: Self.logger)
    #expect(try await Content(of: target) == content)
    #expect(try await target.check() == StoreCheck())
    await #expect(throws: DatabaseMove.Failure.notEmpty) {
      try await move.requireEmpty(database(other))
    }
  }

  @Test("A move between servers that ended between its commits is completed by the next one")
  func interrupted() async throws {
    let (address, other) = (
      try await filledCluster(), try await PrivatePostgreSQL.newPatientDatabase()
    )
    let move = KeyServer.databaseMoveBetweenServers
    let (from, to) = (database(address), database(other))
    let first = try await whenUnused {
      try await move.run(from: from, to: to, at: StoreScene.now)
    }
    // As if the commit of the old database had failed.
    let server = try await PrivatePostgreSQL.shared()
    let schema = try #require(first.schema)
    try await server.run("DROP SCHEMA public", in: address.databaseName)
    try await server.run("ALTER SCHEMA \(schema) RENAME TO public", in: address.databaseName)
    try await move.requireEmpty(database(other), orEqualTo: from)
    let second = try await whenUnused {
      try await move.run(from: from, to: to, at: StoreScene.now)
    }
    #expect(second == first)
    try await server.run("DROP SCHEMA public", in: address.databaseName)
    try await server.run("ALTER SCHEMA \(schema) RENAME TO public", in: address.databaseName)
    try await server.run("UPDATE app SET regions = 'XX'", in: other.databaseName)
    await #expect(throws: DatabaseMove.Failure.notEmpty) {
      try await move.requireEmpty(database(other), orEqualTo: from)
    }
    await #expect(throws: DatabaseMove.Failure.notEmpty) {
      try await whenUnused { try await move.run(from: from, to: to, at: StoreScene.now) }
    }
  }

  @Test(
    "A withdrawn file that the folder does not know, and a different row, leave everything as it was"
  )
  func refusedBack() async throws {
    let address = try await filledCluster()
    let hash = try #require(KeyFileHash(Data(repeating: 1, count: 32)))
    let store = PostgreSQLKeyStore(address, logger: Self.logger)
    try await store.setFiles([hash], areWithdrawn: true, at: StoreScene.now)
    store.close()
    let folder = try TemporaryFolder()
    let source = database(address)
    await #expect(throws: DatabaseMove.Failure.unknownWithdrawals(count: 1)) {
      try await whenUnused {
        try await KeyServer.databaseMoveToFile(withdrawn: []).run(
          from: source, toNew: folder.path("keys.sqlite"), at: StoreScene.now)
      }
    }
    let other = try await PrivatePostgreSQL.newPatientDatabase()
    let target = database(other)
    try await target.transaction { transaction in
      try transaction.run(
        """
        CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          NEW.regions = 'XX'; RETURN NEW; END $$
        """)
      try transaction.run(
        "CREATE TRIGGER changed BEFORE INSERT ON app FOR EACH ROW EXECUTE FUNCTION changed()")
    }
    await #expect(throws: DatabaseMove.Failure.different(table: "app")) {
      try await KeyServer.databaseMoveBetweenServers.run(
        from: source, to: target, at: StoreScene.now)
    }
    #expect(try await target.transaction { try $0.run("SELECT FROM upload").count } == 0)
    #expect(try await source.transaction { try $0.run("SELECT FROM upload").count } > 0)
  }

  @Test("A database that no server has started with is refused where another one was used")
  func unclaimed() async throws {
    var address = try await PrivatePostgreSQL.newPatientDatabase()
    // As a command does before the first start.
    try await PostgreSQLKeyStore(address, logger: Self.logger).makeReady()
    address.mayBeEmpty = false
    for keys in [StoreScene.databaseKeys, nil] {
      await #expect(throws: KeyServerError.emptyDatabase) {
        try await PostgreSQLKeyStore(address, keys: keys, logger: Self.logger).makeReady()
      }
    }
    address.mayBeEmpty = true
    try await PostgreSQLKeyStore(address, keys: StoreScene.databaseKeys, logger: Self.logger)
      .makeReady()
    address.mayBeEmpty = false
    try await PostgreSQLKeyStore(address, logger: Self.logger).makeReady()
  }

  @Test("A database with data is not replaced, and a failed move stores nothing")
  func refused() async throws {
    let scene = try await filled()
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let store = PostgreSQLKeyStore(address, exports: scene.exports, logger: Self.logger)
    _ = try await store.accept(try StoreScene.upload("t", [try StoreScene.key(9)]))
    await #expect(throws: DatabaseMove.Failure.notEmpty) { try await move(scene, to: address) }
    #expect(try await store.registryEntries().apps.isEmpty)
    let other = try await PrivatePostgreSQL.newPatientDatabase()
    let target = KeyServer.database(at: other, logger: Self.logger)
    // A trigger changes each row on insertion, so the comparison before the commit has to fail.
    try await target.transaction { transaction in
      try transaction.run(
        """
        CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          NEW.regions = 'XX'; RETURN NEW; END $$
        """)
      try transaction.run(
        "CREATE TRIGGER changed BEFORE INSERT ON app FOR EACH ROW EXECUTE FUNCTION changed()")
    }
    await #expect(throws: DatabaseMove.Failure.different(table: "app")) {
      try await move(scene, to: other)
    }
    let count = try await target.transaction { try $0.run("SELECT FROM upload").count }
    #expect(count == 0)
  }
}
