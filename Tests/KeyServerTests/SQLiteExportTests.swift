// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("SQLite key store: reading and writing many keys")
struct SQLiteExportTests {
  /// Records the statements that use the table of keys.
  private final class Recorder: Sendable {
    private let recorded = Mutex<[String]>([])

    var statements: [String] { recorded.withLock { $0 } }
    func clear() { recorded.withLock { $0 = [] } }

    func trace(_ db: Database) {
      db.trace { event in
        guard case .statement(let statement) = event, statement.sql.contains("diagnosis_key")
        else { return }
        self.recorded.withLock { $0.append(statement.expandedSQL) }
      }
    }
  }

  private static let start = RunningKeyServer.midnight
  private static let end = start + 14_400
  private static let keyCount = 3_000

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(_ name: String = "keys.sqlite") throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: folder.path(name), exports: [StoreScene.export()], at: Self.start)
  }

  /// A store with 3,000 keys that are released in the four hours from the start.
  private func filledStore(_ name: String = "keys.sqlite") throws -> SQLiteKeyStore {
    let store = try store(name)
    let keys = try (0..<Self.keyCount).map { number in
      try StoreScene.key(
        bytes: SystemRandomness().bytes(16), .confirmedTest, regions: ["PL"], travels: false,
        released: Self.start + Double(number % 4) * 3_600)
    }
    try store.insert(keys)
    return store
  }

  private func close(_ store: SQLiteKeyStore) async throws -> [Batch] {
    var export = StoreScene.export()
    export.maximumKeysPerFile = 1_000
    return try await store.close(
      ClosingPlan(
        end: Self.end, periods: [.init(export: export, start: Self.start, minimumKeys: 0)],
        randomness: SystemRandomness()))
  }

  private static let allKeys = PeriodKeys(start: start.unixSecond, end: end.unixSecond)

  @Test("A file is read with one cursor over its key range, without an offset or sorting")
  func files() async throws {
    let store = try filledStore()
    let batches = try await close(store)
    #expect(batches.count == 3)
    let recorder = Recorder()
    try await store.database.pool.read { recorder.trace($0) }
    for batch in batches {
      recorder.clear()
      let count = try await store.withKeys(of: batch) { keys in
        var count = 0
        try keys.forEach { _, _ in count += 1 }
        return count
      }
      #expect(count == 1_000)
      let statements = recorder.statements
      // One statement for released keys, one for revised keys.
      #expect(statements.count == 2)
      #expect(!statements.contains { $0.uppercased().contains("OFFSET") })
      let released = try #require(statements.first { !$0.contains("INDEXED BY") })
      let plan = try await self.plan(of: released, in: store)
      let revised = try #require(statements.first { $0.contains("INDEXED BY") })
      // Sorted once: the second time would collect all rows before the first one is passed on.
      #expect(try await self.plan(of: revised, in: store).count { $0.contains("TEMP B-TREE") } == 1)
      #expect(plan.count == 1, "\(plan)")
      #expect(
        plan.allSatisfy { $0.hasPrefix("SEARCH main.diagnosis_key USING PRIMARY KEY") }, "\(plan)")
    }
  }

  private func plan(of statement: String, in store: SQLiteKeyStore) async throws -> [String] {
    try await store.database.pool.read { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(statement)").map { $0["detail"] as String }
    }
  }

  @Test("A row that has lost only the time of its revision is damaged")
  func lostRevision() async throws {
    let store = try filledStore()
    try await store.database.pool.write { db in
      try db.execute(
        sql: """
          UPDATE diagnosis_key SET revised_released_at = released_at, revised_report_type = 5,
            revised_transmission_risk = 0
          WHERE key_data = (SELECT min(key_data) FROM diagnosis_key)
          """)
      try SQLiteKeyStore.renewChecksums(in: db)
      #expect(try SQLiteKeyStore.damagedKeys(in: db) == 0)
      try db.execute(sql: "UPDATE diagnosis_key SET revised_released_at = NULL")
      #expect(try SQLiteKeyStore.damagedKeys(in: db) == 1)
      var count = 0
      try Self.allKeys.forEachReleased(in: db) { _ in count += 1 }
      #expect(count == Self.keyCount - 1)
    }
  }

  @Test("A count ends early only if its exact value does not matter")
  func counts() async throws {
    let store = try filledStore()
    let later = PeriodKeys(start: (Self.start + 7_200).unixSecond, end: Self.end.unixSecond)
    func counts(_ first: ClosedRange<Int>?, _ second: ClosedRange<Int>?) async throws -> [Int] {
      try await store.database.read { db in
        try PeriodKeys.releasedCounts(
          of: [
            CountedPeriod(keys: Self.allKeys, indifferent: first),
            CountedPeriod(keys: later, indifferent: second),
          ], in: db)
      }
    }
    let exact = [Self.keyCount, Self.keyCount / 2]
    #expect(try await counts(nil, nil) == exact)
    // More keys than one of the ranges has.
    #expect(try await counts(10...20, 10...20) == exact)
    #expect(try await counts(10...Self.keyCount, 10...(Self.keyCount - 1)) == exact)
    // Fewer keys than the second one has.
    #expect(try await counts(1...9_000, 2_000...9_000) == exact)
    let early = try await counts(100...9_000, 100...9_000)
    #expect(early.allSatisfy { $0 >= 100 } && early[0] < Self.keyCount / 2, "\(early)")
  }

  @Test("A cancelled read throws CancellationError, not a database error")
  func cancelled() async throws {
    let store = try filledStore()
    let batch = try #require(try await close(store).first)
    let reading = Task {
      try await store.withKeys(of: batch) { keys in
        try keys.forEach { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test("So does a read of a few keys, which SQLite does not interrupt")
  func cancelledAtTheEnd() async throws {
    let store = try store()
    try store.insert([
      StoreScene.key(1, released: Self.start), StoreScene.key(2, released: Self.start),
    ])
    let batch = try #require(try await close(store).first)
    let reading = Task {
      try await store.withKeys(of: batch) { keys in
        try keys.forEach { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test("A closing that SQLite rolls back restores the cache size")
  func cache() async throws {
    let store = try filledStore()
    // On a full disk, SQLite rolls back the transaction by itself.
    try await store.database.pool.write { db in
      try db.execute(
        sql: """
          CREATE TRIGGER full BEFORE INSERT ON period_progress
          BEGIN SELECT RAISE(ROLLBACK, 'full'); END
          """)
    }
    await #expect(throws: DatabaseError.self) { try await close(store) }
    let cache = try await store.database.pool.writeWithoutTransaction { db in
      try Int.fetchOne(db, sql: "PRAGMA cache_size")
    }
    #expect(cache == -SQLiteLimit.cacheKiB)
  }

  @Test("An upload runs one statement per key and no lookup, however many keys are stored")
  func uploads() async throws {
    var costs: [[Int]] = []
    for store in [try store("empty.sqlite"), try filledStore("filled.sqlite")] {
      let recorder = Recorder()
      try await store.database.pool.writeWithoutTransaction { recorder.trace($0) }
      var cost: [Int] = []
      for count in [0, 1, 14, 28] {
        recorder.clear()
        let keys = try (0..<count).map { _ in
          try StoreScene.key(
            bytes: SystemRandomness().bytes(16), .confirmedTest, regions: ["PL"], travels: false,
            released: Self.start)
        }
        let acceptance = try await store.accept(
          StoreScene.upload(UUID().uuidString, keys, at: Self.start))
        guard case .accepted = acceptance else { Issue.record("upload rejected"); return }
        cost.append(recorder.statements.count)
      }
      costs.append(cost)
    }
    #expect(costs == [[0, 1, 14, 28], [0, 1, 14, 28]], "\(costs)")
  }

  /// Reads keys until the end or an error.
  private func read(_ file: URL) async throws -> (count: Int, error: (any Error)?) {
    try await SQLiteKeyStore(file: file).database.pool.read { db in
      var count = 0
      do {
        try Self.allKeys.forEachReleased(in: db) { _ in count += 1 }
        return (count, nil)
      } catch {
        return (count, error)
      }
    }
  }

  /// The bytes of `database` with one page of keys in its middle overwritten.
  private func damaged(_ database: Data) throws -> Data {
    let size = SQLiteLimit.pageBytes
    let pages = database.count / size
    // A page of type 10 is a leaf of a table without row numbers, here of keys.
    let leaf = try #require((pages / 2..<pages).first { database[$0 * size] == 10 })
    var damaged = database
    damaged.replaceSubrange(
      leaf * size..<(leaf + 1) * size, with: Data(repeating: 0xEE, count: size))
    return damaged
  }

  @Test("A damaged page ends a read with an error, not as if it were the last page")
  func damagedPage() async throws {
    let (whole, broken) = (folder.path("keys.sqlite"), folder.path("broken.sqlite"))
    try filledStore().close()
    try damaged(try Data(contentsOf: whole)).write(to: broken)
    let complete = try await read(whole)
    #expect((complete.count, complete.error == nil) == (Self.keyCount, true))
    let incomplete = try await read(broken)
    #expect(incomplete.count < Self.keyCount)
    #expect((incomplete.error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT)
  }

  @Test("A revision without a transmission risk ends a read with an error")
  func missingRisk() async throws {
    let store = try filledStore()
    try await store.database.pool.write {
      try $0.execute(
        sql: """
          UPDATE diagnosis_key SET revised_released_at = released_at, revised_report_type = 1
          WHERE key_data = (SELECT max(key_data) FROM diagnosis_key)
          """)
      try SQLiteKeyStore.renewChecksums(in: $0)
    }
    let error = await #expect(throws: DatabaseError.self) {
      try await store.database.pool.read { db in
        try Self.allKeys.forEachReleased(in: db) { _ = try $0.key() }
      }
    }
    #expect(error?.resultCode == .SQLITE_CORRUPT)
  }
}
