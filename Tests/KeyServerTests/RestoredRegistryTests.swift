// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing
import World

@testable import KeyServer

/// The withdrawals and removals that restored databases take over from earlier ones.
@Suite("Registers and withdrawn files after a restoration")
struct RestoredRegistryTests {
  private static let exports = [StoreScene.export(), StoreScene.export("PL")]
  private static let signer = P256.Signing.PrivateKey()

  private let folder: TemporaryFolder
  private let clock = ManualClock(StoreScene.now)

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(_ name: String) throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: folder.path(name), keys: StoreScene.databaseKeys, exports: Self.exports, at: clock.now)
  }

  /// Copies the database `name`, and gives both the identity of a backup.
  private func backUp(_ name: String, to backup: String) async throws {
    let identity = Data(SystemRandomness().bytes(16))
    try await DatabaseQueue(waitingAt: folder.path(name).path).writeWithoutTransaction { db in
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS backup_history (
            number INTEGER NOT NULL PRIMARY KEY, identity BLOB NOT NULL UNIQUE) STRICT
          """)
      try db.execute(
        sql: "INSERT INTO backup_history (identity) VALUES (?)", arguments: [identity])
      try db.execute(sql: "VACUUM INTO ?", arguments: [folder.path(backup).path])
    }
  }

  /// Restores `backup` as `name`, which takes over from `earlier`.
  @discardableResult
  private func restore(
    _ backup: String, as name: String, from earlier: [String],
    withdrawn: Set<KeyFileHash> = []
  ) throws -> RestoredRegistry.Removed {
    try FileManager.default.copyItem(at: folder.path(backup), to: folder.path(name))
    let registers = try earlier.map {
      try #require(
        try RestoredRegistry.takeOver(
          from: folder.path($0), by: folder.path(name), withdrawn: withdrawn))
    }
    return try RestoredRegistry.remove(registers, from: folder.path(name))
  }

  private func registry(_ name: String) throws -> KeyServerRegistry {
    try KeyServerRegistry(databaseFile: folder.path(name))
  }

  private func add(_ issuers: [String], to name: String) async throws {
    for issuer in issuers {
      let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
      try await registry(name).add(
        HealthAuthority(issuer: issuer, audience: "keys", publicKeysPEM: ["v1": pem]))
      try await registry(name).add(
        AuthorizedApp(id: "org.\(issuer)", regions: ["PL"], authorities: [issuer]))
    }
  }

  private func names(_ name: String) async throws -> [String] {
    let registry = try registry(name)
    return try await registry.apps().map(\.id) + registry.authorities().map(\.issuer)
  }

  @Test("What was removed and added again is kept, if the database with it knows of the removal")
  func addedAgain() async throws {
    _ = try store("first")
    try await add(["a", "b"], to: "first")
    try await backUp("first", to: "backup")
    for issuer in ["a", "b"] {
      #expect(try await registry("first").removeApp("org.\(issuer)"))
      #expect(try await registry("first").removeAuthority(issuer))
    }
    try restore("backup", as: "second", from: ["first"])
    #expect(try await names("second").isEmpty)
    try await add(["a"], to: "second")
    for (round, order) in [["first", "second"], ["second", "first"]].enumerated() {
      let removed = try restore("backup", as: "third \(round)", from: order)
      #expect(removed.names == ["b", "org.b"])
      #expect(try await names("third \(round)") == ["org.a", "a"])
    }
    // One that does not know of the removal keeps nothing.
    try restore("backup", as: "other", from: [])
    try restore("backup", as: "fourth", from: ["other", "first"])
    #expect(try await names("fourth").isEmpty)
  }

  @Test("Removals in a database that was restored from an older backup are kept, others are not")
  func olderBackup() async throws {
    _ = try store("first")
    try await add(["a"], to: "first")
    try await backUp("first", to: "older")
    #expect(try await registry("first").removeApp("org.a"))
    try await add(["a", "b"], to: "first")
    try await backUp("first", to: "newer")
    let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
    for (round, keyID) in ["v1", "v2"].enumerated() {
      let name = "second \(round)"
      try restore("older", as: name, from: [])
      if round == 1 { #expect(try await registry(name).removeAuthority("a")) }
      var change = HealthAuthorityChange(issuer: "a")
      change.audience = "keys"
      change.addedKeysPEM = [keyID: pem]
      try await registry(name).apply(change)
      let restored = "third \(round)"
      let removed = try restore("newer", as: restored, from: [name])
      #expect(removed.names == (round == 0 ? [] : ["org.a"]) && removed.keys == 0)
      #expect(try await names(restored) == ["org.a", "org.b", "a", "b"])
    }
  }

  @Test("A database from before the backup removes nothing, also if it knows of removals")
  func ancestor() async throws {
    _ = try store("first")
    try await add(["a", "b"], to: "first")
    #expect(try await registry("first").removeApp("org.a"))
    try await backUp("first", to: "ancestor")
    try await add(["a"], to: "first")
    try await backUp("first", to: "backup")
    for round in 1...2 {
      let removed = try restore("backup", as: "restored \(round)", from: ["ancestor"])
      #expect(removed.names.isEmpty)
      #expect(try await names("restored \(round)") == ["org.a", "org.b", "a", "b"])
    }
  }

  @Test("A key of an authority that stays is not recorded as removed when others change")
  func unchangedKeys() async throws {
    let store = try store("first")
    try await add(["a"], to: "first")
    for round in 1...2 {
      var change = HealthAuthorityChange(issuer: "a")
      change.addedKeysPEM = [
        "k\(round)": P256.Signing.PrivateKey().publicKey.pemRepresentation
      ]
      try await registry("first").apply(change)
    }
    let count = try await store.database.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM removal")
    }
    #expect(count == 0)
  }

  // MARK: - Withdrawn files

  private func exporter(_ name: String) throws -> Exporter {
    let pem = Self.signer.pemRepresentation
    let store = try store(name)
    return Exporter(
      store: store,
      folder: try ExportFolder(folder.path("exports of \(name)"), roots: ["PL"]),
      exports: Self.exports,
      signers: ExportSigners { [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")] },
      clock: clock, time: TrustedTime(clock, store), randomness: SystemRandomness(),
      withdrawn: { [] })
  }

  /// The first bytes of the keys in the files of `name`.
  private func published(_ name: String) async throws -> [UInt8] {
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: Self.signer.publicKey.pemRepresentation)
    var bytes: [UInt8] = []
    for file in try files(of: name) {
      _ = try UnverifiedKeyFile(at: file).verified(by: [key], batchSize: 100) {
        bytes += $0.keys.compactMap(\.key.secretBytes.first)
      }
    }
    return bytes
  }

  private func files(of name: String) throws -> [URL] {
    let export = try ExportFolder(folder.path("exports of \(name)"), roots: ["PL"])
    return try ["", "PL"].flatMap { root in
      let lines = String(decoding: try export.index(of: root), as: UTF8.self)
        .replacing("\(root)/", with: "")
      return KeyFileIndex.parse(lines).names.map { export.file($0, of: root) }
    }
  }

  @Test("The keys of a withdrawn file that the backup does not have are not published, each time")
  func withdrawnFile() async throws {
    let store = try store("first")
    let later = clock.now.addingTimeInterval(4 * StoreScene.hour)
    try store.insert([
      try StoreScene.key(1, released: clock.now), try StoreScene.key(2, released: later),
    ])
    try await backUp("first", to: "backup")
    clock.advance(by: 8 * StoreScene.hour)
    _ = try await exporter("first").exportDue()
    #expect(try await published("first") == [1, 2, 1, 2])
    let withdrawn = try #require(KeyFileHash(ofFile: try files(of: "first")[0]))
    try restore("backup", as: "second", from: ["first"], withdrawn: [withdrawn])
    // The second time, only the database that was restored before knows of the file.
    try restore("backup", as: "third", from: ["second"])
    for name in ["second", "third"] {
      _ = try await exporter(name).exportDue()
      #expect(try await published(name) == [2, 2])
    }
    // They are forgotten with the file.
    clock.advance(by: 15 * 24 * StoreScene.hour)
    try ServerState.confirm(
      clock.now, in: folder.path("third"), schema: KeyServer.databaseSchema)
    try await exporter("third").removeOld()
    let left = try await self.store("third").database.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM withdrawn_file_key")
    }
    #expect(left == 0)
  }

  @Test("A key that was revoked after the backup stays so and is published so, each time")
  func revoked() async throws {
    let store = try store("first")
    _ = try await store.accept(
      try StoreScene.upload("token", [try StoreScene.key(1, .confirmedClinicalDiagnosis)]))
    try await backUp("first", to: "backup")
    clock.advance(by: 4 * StoreScene.hour)
    let revoked = try StoreScene.key(1, .revoked, released: clock.now)
    _ = try await store.accept(
      try StoreScene.upload("other", [revoked], revising: [revoked.key.key], at: clock.now))
    clock.advance(by: 4 * StoreScene.hour)
    for (name, earlier) in [("second", "first"), ("third", "second")] {
      try restore("backup", as: name, from: [earlier])
      let types = try await self.store(name).database.pool.read {
        try Int.fetchAll($0, sql: "SELECT revised_report_type FROM diagnosis_key")
      }
      #expect(types == [Int(ReportType.revoked.rawValue)])
      _ = try await exporter(name).exportDue()
      // One file with the key and one with its revision, in each export.
      #expect(try files(of: name).count == 4)
    }
  }

  @Test("A revision in a withdrawn file is not published again, and its key is")
  func withdrawnRevision() async throws {
    let store = try store("first")
    _ = try await store.accept(
      try StoreScene.upload("token", [try StoreScene.key(1, .confirmedClinicalDiagnosis)]))
    clock.advance(by: 4 * StoreScene.hour)
    _ = try await exporter("first").exportDue()
    let revoked = try StoreScene.key(1, .revoked, released: clock.now)
    _ = try await store.accept(
      try StoreScene.upload("other", [revoked], revising: [revoked.key.key], at: clock.now))
    try await backUp("first", to: "backup")
    clock.advance(by: 4 * StoreScene.hour)
    _ = try await exporter("first").exportDue()
    let withdrawn = try #require(KeyFileHash(ofFile: try files(of: "first")[1]))
    #expect(try files(of: "first").count == 4)
    for (name, earlier) in [("second", "first"), ("third", "second")] {
      try restore("backup", as: name, from: [earlier], withdrawn: [withdrawn])
      let unrevised = try await self.store(name).database.pool.read {
        try Int.fetchOne(
          $0, sql: "SELECT count(*) FROM diagnosis_key WHERE revised_released_at IS NULL")
      }
      #expect(unrevised == 1)
      _ = try await exporter(name).exportDue()
      #expect(try await published(name) == [1, 1])
    }
  }
}
