// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import Synchronization
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

@Suite("SQLite key store: file and schema")
struct SQLiteFileTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.path("keys.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store() throws -> SQLiteKeyStore {
    try SQLiteKeyStore(file: file, exports: [StoreScene.export()], at: StoreScene.now)
  }

  @Test("The write-ahead log is enabled and synced at each commit, and deleted data is overwritten")
  func durability() throws {
    let settings = try store().database.pool.writeWithoutTransaction { db in
      try [
        "journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout", "page_size",
        "cache_size",
      ].map {
        try String.fetchOne(db, sql: "PRAGMA \($0)")
      }
    }
    #expect(
      settings == [
        "wal", "2", "1", "1", "5000", "\(SQLiteLimit.pageBytes)", "-\(SQLiteLimit.cacheKiB)",
      ])
  }

  @Test("The file and its log have mode 0600")
  func permissions() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("t", [try StoreScene.key(1)]))
    for name in ["keys.sqlite", "keys.sqlite-wal"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name).path)
      #expect(attributes[.posixPermissions] as? NSNumber == 0o600, "\(name)")
    }
  }

  /// Counts the transactions of a store.
  private final class CommitCounter: TransactionObserver, Sendable {
    private let commits = Mutex(0)

    var count: Int { commits.withLock { $0 } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.withLock { $0 += 1 } }
    func databaseDidRollback(_ db: Database) {}
  }

  @Test("Old keys and tokens are removed in many transactions, between which uploads are committed")
  func removedInParts() async throws {
    let store = try store()
    let counter = CommitCounter()
    store.database.pool.add(transactionObserver: counter)
    try await store.removeOld(RetentionLimits(at: StoreScene.now))
    #expect(counter.count >= 2 * SQLiteLimit.partsOfTables)
  }

  @Test("A later migration step runs once on an existing database and keeps its data")
  func laterStep() async throws {
    let upload = try StoreScene.upload("t", [try StoreScene.key(1)])
    let acceptance = try await store().accept(upload)
    var schema = SQLiteSchema.schema
    schema.migrations.registerMigration("2 test") { db in
      try db.execute(sql: "ALTER TABLE diagnosis_key ADD COLUMN origin TEXT NOT NULL DEFAULT 'PL'")
    }
    for _ in 0..<2 {
      let later = try SQLiteKeyStore(file: file, schema: schema)
      #expect(try await later.acceptance(of: upload) == acceptance)
      let origins = try await later.database.pool.read {
        try String.fetchAll($0, sql: "SELECT origin FROM diagnosis_key")
      }
      #expect(origins == ["PL"])
    }
    let later = try SQLiteKeyStore(file: file, schema: schema)
    _ = try await later.accept(StoreScene.upload("u", [try StoreScene.key(2)]))
    #expect(throws: KeyServerError.newerDatabase) { try store() }
  }

  @Test("A database of a newer version is not opened, and the error names the reason")
  func newer() async throws {
    try await store().database.pool.write {
      try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of a newer version')")
    }
    #expect(throws: KeyServerError.newerDatabase) { try store() }
    #expect(throws: KeyServerError.newerDatabase) { try KeyServerRegistry(databaseFile: file) }
  }

  @Test("After the file is deleted, no transaction is acknowledged")
  func deleted() async throws {
    let store = try store()
    try FileManager.default.removeItem(at: file)
    let lost = KeyServerError.lostDatabase
    await #expect(throws: lost) { try await store.keep(StoreScene.now) }
    await #expect(throws: lost) {
      _ = try await store.accept(StoreScene.upload("t", [try StoreScene.key(1)]))
    }
    await #expect(throws: lost) {
      try await store.add(AuthorizedApp(id: "app", regions: ["PL"], authorities: []))
    }
    await #expect(throws: lost) {
      try await store.removeOld(RetentionLimits(at: StoreScene.now))
    }
    await #expect(throws: lost) {
      try await store.add(
        SealedRevisionKey(id: "a", sealed: Data(), effectiveFrom: StoreScene.now), forgetting: [])
    }
  }

  @Test("The times of the clock are not read from a missing file, which is not created")
  func missingFile() {
    #expect(throws: ServerDatabaseError.unavailable) {
      try ServerState.clockRecord(in: file, schema: KeyServer.databaseSchema)
    }
    #expect(throws: ServerDatabaseError.unavailable) {
      try ServerState.confirm(StoreScene.now, in: file, schema: KeyServer.databaseSchema)
    }
    #expect(folder.files().isEmpty)
  }

  @Test("A committed upload survives a crash of the process")
  func crash() async throws {
    let store = try store()
    let upload = try StoreScene.upload("t", try (1...9).map { try StoreScene.key($0) })
    let acceptance = try await store.accept(upload)
    // Copies of the file and the log, as a crash leaves them.
    let copy = folder.path("copy.sqlite")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        at: folder.path("keys.sqlite" + suffix), to: folder.path("copy.sqlite" + suffix))
    }
    let after = try SQLiteKeyStore(file: copy)
    #expect(try await after.acceptance(of: upload) == acceptance)
    let count = try await after.database.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM diagnosis_key")
    }
    #expect(count == 9)
  }
}

@Suite("SQLite key store: uploads")
struct SQLiteUploadTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.path("keys.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(minimumKeys: Int = 0) throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: file, exports: [StoreScene.export(minimum: minimumKeys)], at: StoreScene.now)
  }

  private func keys(_ numbers: ClosedRange<UInt8>) throws -> [PublishableKey] {
    try numbers.map { try StoreScene.key($0) }
  }

  private func keyCount(_ store: SQLiteKeyStore) async throws -> Int? {
    try await store.database.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM diagnosis_key")
    }
  }

  private func outcome(_ acceptance: Acceptance) -> String? {
    guard case .accepted(let response) = acceptance else { return nil }
    return String(decoding: response, as: UTF8.self)
  }

  @Test("Keys of the same commit and of earlier commits are recognized as stored")
  func known() async throws {
    let store = try store()
    let uploads = try [("a", 1...3), ("b", 3...5), ("c", 6...7)].map {
      try StoreScene.upload($0.0, keys($0.1))
    }
    let together = try await store.database.pool.write { try SQLiteUploads(db: $0).accept(uploads) }
    #expect(
      together.map(outcome) == [
        "StoredUploadCounts(3 inserted, 0 revised)", "StoredUploadCounts(2 inserted, 0 revised)",
        "StoredUploadCounts(2 inserted, 0 revised)",
      ])
    let later = try await store.accept(StoreScene.upload("d", keys(5...8)))
    #expect(outcome(later) == "StoredUploadCounts(1 inserted, 0 revised)")
    let (first, second) = (try StoreScene.key(7), try StoreScene.key(8, .confirmedTest))
    let revision = try StoreScene.upload(
      "e", [first, second], revising: [first.key.key, second.key.key])
    #expect(
      outcome(try await store.accept(revision)) == "StoredUploadCounts(0 inserted, 1 revised)")
    let again = try await store.accept(StoreScene.upload("f", keys(8...8)))
    #expect(outcome(again) == "StoredUploadCounts(0 inserted, 0 revised)")
    #expect(try await keyCount(store) == 8)
  }

  @Test("Inserts and removals by another process are visible at once")
  func twoProcesses() async throws {
    let (one, other) = (try store(), try store())
    _ = try await one.accept(StoreScene.upload("a", keys(1...3)))
    _ = try await other.accept(StoreScene.upload("b", keys(4...6)))
    let both = try await one.accept(StoreScene.upload("c", keys(3...7)))
    #expect(outcome(both) == "StoredUploadCounts(1 inserted, 0 revised)")
    let again = try await other.accept(StoreScene.upload("d", keys(7...8)))
    #expect(outcome(again) == "StoredUploadCounts(1 inserted, 0 revised)")
    try await other.database.pool.write { try $0.execute(sql: "DELETE FROM diagnosis_key") }
    let removed = try await one.accept(StoreScene.upload("e", keys(1...8)))
    #expect(outcome(removed) == "StoredUploadCounts(8 inserted, 0 revised)")
  }

  @Test("A commit that fails is rolled back completely, and the same upload is accepted later")
  func rollback() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...2)))
    try await store.database.pool.write {
      try $0.execute(
        sql: """
          CREATE TRIGGER full BEFORE INSERT ON statistic BEGIN SELECT RAISE(ROLLBACK, 'full'); END
          """)
    }
    let upload = try StoreScene.upload("b", keys(3...4))
    await #expect(throws: DatabaseError.self) { try await store.accept(upload) }
    #expect(try await store.acceptance(of: upload) == nil)
    #expect(try await keyCount(store) == 2)
    try await store.database.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    #expect(outcome(try await store.accept(upload)) == "StoredUploadCounts(2 inserted, 0 revised)")
    #expect(try await keyCount(store) == 4)
  }

  @Test(
    "A padding key that is uploaded later is recognized as stored, in every process",
    arguments: [1, 2])
  func padding(processes: Int) async throws {
    let stores = try (0..<processes).map { _ in try store(minimumKeys: 10) }
    for (number, store) in stores.enumerated() {
      let own = UInt8(number + 1)
      _ = try await store.accept(StoreScene.upload("\(number)", keys(own...own)))
    }
    let end = StoreScene.now + 4 * StoreScene.hour
    let plan = try #require(
      ClosingPlan(
        for: [StoreScene.export(minimum: 10)], after: try await stores[0].exportProgress(),
        at: end, randomness: SystemRandomness()))
    let batch = try #require(try await stores[0].close(plan).first)
    let all = try await stores[0].withKeys(of: batch) { keys in
      var all: [[UInt8]] = []
      try keys.forEach { key, _ in all.append(key.key.secretBytes) }
      return all
    }
    #expect(all.count == 10)
    let again = try all.map {
      try StoreScene.key(bytes: $0, nil, regions: ["PL"], travels: false, released: end)
    }
    for (number, store) in stores.enumerated() {
      for key in again {
        let acceptance = try await store.accept(
          StoreScene.upload("\(number) \(key.bytes)", [key], at: end))
        #expect(outcome(acceptance) == "StoredUploadCounts(0 inserted, 0 revised)")
      }
    }
  }

  /// A key with random values within the limits of the table.
  private func randomKey(_ generator: inout SeededGenerator) throws -> PublishableKey {
    let period = UInt32.random(in: 1...144, using: &generator)
    let key = try #require(
      TemporaryExposureKey(
        bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) },
        rollingStart: IntervalNumber(
          rawValue: .random(in: 0...UInt32.max - period, using: &generator)),
        rollingPeriod: period))
    let days = Int32.random(in: -15...15, using: &generator)
    let diagnosisKey = try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: UInt8.random(in: 0...8, using: &generator),
        reportType: ([nil] + ReportType.allCases).randomElement(using: &generator) ?? nil,
        daysSinceOnsetOfSymptoms: days == 15 ? nil : days))
    return PublishableKey(
      key: diagnosisKey,
      regions: Array(["PL", "CZ", "DE", "AT"].prefix(Int.random(in: 0...4, using: &generator))),
      travels: Bool.random(using: &generator),
      releasedAt: Date(unixSecond: Int64.random(in: 0...4_000_000_000, using: &generator)),
      isPadding: Bool.random(using: &generator))
  }

  @Test("Inserted keys are stored with all their values, in the order of their bytes")
  func inserted() async throws {
    var generator = SeededGenerator(seed: 20)
    let store = try store()
    let keys = try (0..<300).map { _ in try randomKey(&generator) }
    let rows = try await store.database.pool.write { db in
      try KeyInsertion(in: db).insert(keys)
      return try Row.fetchAll(
        db,
        sql: """
          SELECT key_data, rolling_start, rolling_period, transmission_risk, report_type,
            days_since_onset, regions, travels, released_at, is_padding FROM diagnosis_key
          """
      ).map(values)
    }
    let sorted = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    #expect(rows == sorted.map(values))
  }

  private func values(_ row: Row) -> [String] {
    [(row[0] as Data).base64EncodedString()]
      + (1...5).map { "\(row[$0] as Int64? as Any)" }
      + [row[6]] + (7...9).map { "\(row[$0] as Int64)" }
  }

  private func values(_ key: PublishableKey) -> [String] {
    let (known, exposureKey) = (key.key, key.key.key)
    let optional: [Int64?] = [
      Int64(exposureKey.rollingStart.rawValue), Int64(exposureKey.rollingPeriod),
      Int64(known.transmissionRiskLevel), known.reportType.map { Int64($0.rawValue) },
      known.daysSinceOnsetOfSymptoms.map(Int64.init),
    ]
    return [Data(key.bytes).base64EncodedString()] + optional.map { "\($0 as Int64? as Any)" }
      + [key.regions.joined(separator: ",")]
      + [key.travels ? 1 : 0, key.releasedAt.unixSecond, key.isPadding ? 1 : 0].map { "\($0)" }
  }
}
