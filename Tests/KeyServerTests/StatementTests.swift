import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import Synchronization
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

/// servers.md 5.15. Keys are not imported from other servers and no partner is given a cursor, since
/// there is no federation; what reads and writes keys by the thousand here are exports and uploads.
@Suite("Servers 5.15: reading and writing keys costs as much as there are keys")
struct StatementTests {
  /// What a connection was told to do with the tables of keys.
  private final class Book: Sendable {
    private static let tables = ["diagnosis_key", "waiting_keys"]
    private let written = Mutex<[String]>([])

    var statements: [String] { written.withLock { $0 } }
    func forget() { written.withLock { $0 = [] } }

    func listen(to db: Database) {
      db.trace { event in
        guard case .statement(let statement) = event,
          Self.tables.contains(where: statement.sql.contains)
        else { return }
        self.written.withLock { $0.append(statement.expandedSQL) }
      }
    }
  }

  private static let start = RunningKeyServer.midnight

  /// A store with 3,000 keys that are released in the four hours from the start.
  private func filled(_ folder: TemporaryFolder) throws -> SQLiteKeyStore {
    let file = folder.path("keys.sqlite")
    try ExportWorkload.fill(
      file, region: "PL", keyCount: 3_000, releasedFrom: Self.start,
      randomness: SystemRandomness())
    return try SQLiteKeyStore(
      file: file, exports: [ExportConfiguration(filenameRoot: "", region: "PL")], at: Self.start)
  }

  @Test("5.15 A file is read with one cursor over its range of the table: no offset, no sorting")
  func files() async throws {
    let folder = try TemporaryFolder()
    let store = try filled(folder)
    let batches = try await close(store)
    #expect(batches.count == 3)
    let book = Book()
    try await store.pool.read { book.listen(to: $0) }
    for batch in batches {
      book.forget()
      let count = try await store.withKeys(of: batch) { keys in
        var count = 0
        try keys.forEach { _, _ in count += 1 }
        return count
      }
      #expect(count == 1_000)
      let statements = book.statements
      // One for the keys that are released in the period, one for those that are revised in it.
      #expect(statements.count == 2)
      #expect(!statements.contains { $0.uppercased().contains("OFFSET") })
      let released = try #require(statements.first { !$0.contains("INDEXED BY") })
      let plan = try await store.pool.read { db in
        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(released)").map { $0["detail"] as String }
      }
      #expect(plan.count == 1, "\(plan)")
      #expect(plan.allSatisfy { $0.hasPrefix("SEARCH diagnosis_key USING PRIMARY KEY") }, "\(plan)")
    }
  }

  @Test("Reading that is cancelled in the middle ends as cancelled, not as a database that fails")
  func cancelled() async throws {
    let folder = try TemporaryFolder()
    let store = try filled(folder)
    let batch = try #require(try await close(store).first)
    let reading = Task {
      try await store.withKeys(of: batch) { keys in
        try keys.forEach { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test("A closing that the disk ends in the middle leaves uploads the cache they had")
  func cache() async throws {
    let folder = try TemporaryFolder()
    let store = try filled(folder)
    // As SQLite does where the disk is full: what was begun is undone before anybody is asked.
    try await store.pool.write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER full BEFORE INSERT ON period_progress
          BEGIN SELECT RAISE(ROLLBACK, 'full'); END
          """)
    }
    await #expect(throws: DatabaseError.self) { try await close(store) }
    let cache = try await store.pool.writeWithoutTransaction { db in
      try Int.fetchOne(db, sql: "PRAGMA cache_size")
    }
    #expect(cache == -SQLiteLimit.cacheKiB)
  }

  private func close(_ store: SQLiteKeyStore) async throws -> [Batch] {
    var export = ExportConfiguration(filenameRoot: "", region: "PL")
    export.maximumKeysPerFile = 1_000
    return try await store.close(
      ClosingPlan(
        end: Self.start.addingTimeInterval(14_400),
        periods: [.init(export: export, start: Self.start, minimumKeys: 0)], keyBytes: { [] }))
  }

  @Test("5.15 An upload costs as many statements whatever its keys, and however many are in")
  func uploads() async throws {
    let (empty, full) = (try TemporaryFolder(), try TemporaryFolder())
    var costs: [[Int]] = []
    for store in [
      try SQLiteKeyStore(file: empty.path("keys.sqlite")), try filled(full),
    ] {
      let book = Book()
      // The first upload is told what keys there are.
      _ = try await store.accept(upload(of: 1))
      try await store.pool.writeWithoutTransaction { book.listen(to: $0) }
      var cost: [Int] = []
      for count in [0, 1, 14, 28] {
        book.forget()
        let acceptance = try await store.accept(upload(of: count))
        guard case .accepted = acceptance else { Issue.record("not taken"); return }
        cost.append(book.statements.count)
      }
      costs.append(cost)
    }
    // One that asks whether another process has added keys; one for all keys, where there is any: none is asked
    // for first, and none is inserted by itself.
    #expect(costs == [[1, 2, 2, 2], [1, 2, 2, 2]], "\(costs)")
  }

  private func upload(of count: Int) throws -> AdmittedUpload {
    let now = RunningKeyServer.start
    let day = UInt32(RunningKeyServer.midnight.timeIntervalSince1970 / 600) - 144
    let keys = try (0..<count).map { number in
      let sent = PublishKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: Int32(day) - Int32(number % 14) * 144)
      let key = try #require(SentKey(sent).exposureKey)
      return PublishableKey(
        key: try #require(
          DiagnosisKey(
            key: key, transmissionRiskLevel: 8, reportType: .confirmedTest,
            daysSinceOnsetOfSymptoms: nil)), regions: ["PL"], travels: false, releasedAt: now)
    }
    return try AdmittedUpload(
      token: UsedToken(
        UploadGrant(tokenID: UUID().uuidString, issuedAt: now, expiresAt: now), issuer: "codes",
        at: now),
      digest: Data(SystemRandomness().bytes(32)), keys: keys, revision: .leaveKnown,
      facts: UploadFacts(
        issuer: "", platform: .unknown, onset: SymptomOnset(nil, at: now), keys: keys, at: now),
      response: { _ in Data() })
  }
}
