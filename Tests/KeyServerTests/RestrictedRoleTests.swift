// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing

@testable import KeyServer

/// A key server whose role in PostgreSQL does not own its tables.
@Suite("Key database: role without rights on tables", .needs(.process)) struct RestrictedRoleTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private let owner: PostgreSQLAddress
  private let restricted: PostgreSQLAddress
  private let role: String

  init() async throws {
    let text = try await PrivatePostgreSQL.newDatabase()
    role = "restricted_\(text.split(separator: "_").last ?? "")"
    try await PrivatePostgreSQL.shared().run("CREATE ROLE \(role) LOGIN")
    owner = try PostgreSQLAddress(text)
    restricted = try PostgreSQLAddress(text.replacing("user=postgres", with: "user=\(role)"))
  }

  private func store() -> PostgreSQLKeyStore {
    PostgreSQLKeyStore(
      restricted, keys: StoreScene.databaseKeys, exports: [StoreScene.export()],
      at: StoreScene.now, logger: Self.logger)
  }

  @Test(
    "Before the migration the store names the command; afterwards it creates and drops partitions")
  func partitions() async throws {
    await #expect {
      try await self.store().makeReady()
    } throws: { error in
      "\(error)".contains("database migrate")
    }
    let migration = try await KeyServer.database(at: owner, logger: Self.logger)
      .migrate(grantingTo: role)
    #expect(migration.earlierVersion == 0 && migration.isGranted)
    let store = self.store()
    _ = try await store.accept(try StoreScene.upload("a", [try StoreScene.key(1)]))
    while let plan = ClosingPlan(
      for: [StoreScene.export()], after: try await store.exportProgress(),
      at: StoreScene.now + 24 * StoreScene.hour, randomness: TestRandomness(seed: 1))
    {
      _ = try await store.close(plan)
    }
    _ = try await store.accept(
      try StoreScene.upload(
        "b", [try StoreScene.key(2, released: StoreScene.now + 24 * StoreScene.hour)]))
    #expect(try await store.read { try KeyPartition.all($0).count } == 2)
    try await store.removeOld(RetentionLimits(at: StoreScene.now + 15 * 24 * StoreScene.hour))
    #expect(try await store.read { try KeyPartition.all($0).count } == 1)
    #expect(try await store.check() == StoreCheck())
    await #expect(throws: KeyServerError.self) {
      try await store.write { try $0.run("DROP TABLE upload").count }
    }
  }

  @Test("A check reports the tables that a role may not change, and the rows with a wrong checksum")
  func inspected() async throws {
    let database = KeyServer.database(at: owner, logger: Self.logger)
    _ = try await database.migrate(grantingTo: role)
    let store = self.store()
    _ = try await store.accept(
      try StoreScene.upload("a", [try StoreScene.key(1), try StoreScene.key(2)]))
    try await database.transaction { transaction in
      try transaction.run("REVOKE DELETE ON upload FROM \(role)")
      try transaction.run("UPDATE diagnosis_key SET travels = true WHERE get_byte(key_data, 0) = 1")
    }
    let state = try await KeyServer.databaseInspection.state(
      of: KeyServer.database(at: restricted, logger: Self.logger))
    #expect(state.deniedTables == ["upload"])
    #expect(state.damagedRows == 1 && state.rows["diagnosis_key"] == 2 && state.isCurrent)
    #expect(state.partitions.values.reduce(0, +) == 2)
  }
}
