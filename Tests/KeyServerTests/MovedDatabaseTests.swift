// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing

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
