import ExposureKeys
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

/// Documentation/KeyServer.md 3 and decision 18.
@Suite("Key server: keys wait on the disk until they are sorted into their table")
struct WaitingKeysTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.path("keys.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(waitingKeysMax: Int = 1_000) throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: file, exports: [StoreScene.export()], at: StoreScene.now,
      upkeep: SQLiteUpkeep(waitingKeysMax: waitingKeysMax))
  }

  private func keys(_ numbers: ClosedRange<UInt8>) throws -> [PublishableKey] {
    try numbers.map { try StoreScene.key($0) }
  }

  /// How many keys are in the table, and how many rows of keys wait.
  private func counts(_ store: SQLiteKeyStore) async throws -> [Int] {
    try await store.pool.read { db in
      try ["diagnosis_key", "waiting_keys"].map {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? 0
      }
    }
  }

  private func outcome(_ acceptance: Acceptance) -> String? {
    guard case .accepted(let answer) = acceptance else { return nil }
    return String(decoding: answer, as: UTF8.self)
  }

  @Test(
    "An upload adds one row, whatever its keys; on the limit all are sorted in, and none is lost")
  func limit() async throws {
    let store = try store(waitingKeysMax: 20)
    for number in 0..<19 as Range<UInt8> {
      _ = try await store.accept(StoreScene.upload("\(number)", keys(number...number)))
    }
    #expect(try await counts(store) == [0, 19])
    _ = try await store.accept(StoreScene.upload("19", keys(19...19)))
    try await Patience.until { try await counts(store) == [20, 0] }
    #expect(try await counts(store) == [20, 0])
    // And it begins anew.
    _ = try await store.accept(StoreScene.upload("20", keys(20...30)))
    #expect(try await counts(store) == [20, 1])
  }

  @Test("Without more being said, 28,000 keys wait before they are sorted in")
  func limits() {
    #expect(SQLiteUpkeep().waitingKeysMax == SQLiteLimit.waitingKeys)
    #expect(SQLiteLimit.waitingKeys == 28_000)
  }

  @Test(
    "Keys are sorted in by parts, and uploads are committed between them",
    arguments: [-1, 0, 1])
  func parts(offset: Int) async throws {
    let count = SQLiteLimit.keysSortedInOneCommit + offset
    let store = try store()
    let many = try (0..<count).map { _ in
      try StoreScene.key(
        bytes: SystemRandomness().bytes(16), nil, regions: ["PL"], travels: false,
        released: StoreScene.now)
    }
    try await store.pool.write { db in
      _ = try WaitingKeys(db: db).add(many.map { StoredKey($0) })
    }
    let inserted = Mutex(0)
    try await store.pool.writeWithoutTransaction { db in
      db.trace { event in
        if case .statement(let statement) = event, statement.sql.hasPrefix("COMMIT") {
          inserted.withLock { $0 += 1 }
        }
      }
    }
    let log = LogCopying(of: store.pool, pageCountMax: 1_000_000)
    try SortingIn(writer: store.pool, log: log).run()
    #expect(try await counts(store) == [count, 0])
    // One for each part, and one that forgets the rows.
    #expect(inserted.withLock { $0 } == (offset <= 0 ? 1 : 2) + 1)
  }

  @Test("When more keys are in than the memory of them was made for it is made anew, larger")
  func grown() async throws {
    let store = try store()
    let memory = KnownKeys()
    func capacity() async throws -> Int {
      try await store.pool.write { db in
        try memory.remembered(in: db) { $0.presence.capacity }
      }
    }
    #expect(try await capacity() == SQLiteLimit.knownKeysMin)
    func remember(_ count: Int) async throws {
      try await store.pool.write { db in
        try memory.remembered(in: db) { memory in
          for number in 0..<count { memory.presence.add((UInt64(number), 0)) }
        }
      }
    }
    try await remember(SQLiteLimit.knownKeysMin)
    try await store.pool.write { db in
      try memory.remembered(in: db) { #expect($0.presence.count == SQLiteLimit.knownKeysMin) }
    }
    try await remember(1)
    // None of them is in the table, so it is as small as before, and empty.
    try await store.pool.write { db in
      try memory.remembered(in: db) { #expect($0.presence.count == 0) }
    }
  }

  @Test("Of a sorting in that ended in the middle nothing is lost, doubled or put back")
  func endedInTheMiddle() async throws {
    let first = try store()
    _ = try await first.accept(StoreScene.upload("a", keys(1...9)))
    // A part of them is in the table, and all of them wait.
    try await first.pool.write { db in
      try KeyInsertion(in: db).insert(keys(1...4).map { StoredKey($0) })
      try db.execute(sql: "UPDATE diagnosis_key SET revised_report_type = 1")
    }
    let second = try store()
    #expect(try await counts(second) == [4, 1])
    try await second.settle()
    #expect(try await counts(second) == [9, 0])
    let revised = try await second.pool.read {
      try Int.fetchOne($0, sql: "SELECT count(revised_report_type) FROM diagnosis_key")
    }
    #expect(revised == 4)
  }

  @Test("A key that was sorted in by somebody else and then removed does not come back")
  func removedMeanwhile() async throws {
    let store = try store()
    let log = LogCopying(of: store.pool, pageCountMax: 1_000)
    let sorting = SortingIn(writer: store.pool, log: log)
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    let waiting = try await store.pool.read { try WaitingKeys(db: $0).all() }
    let (keys, latest) = try #require(waiting)
    #expect(try sorting.insert(keys[0..<1], unlessGone: latest))
    try await store.pool.write { db in
      try WaitingKeys(db: db).sortIn()
      try db.execute(sql: "DELETE FROM diagnosis_key")
    }
    #expect(try !sorting.insert(keys[1..<3], unlessGone: latest))
    #expect(try await counts(store) == [0, 0])
  }

  @Test("A key of the same commit, one that waits and one that is sorted in are all known")
  func known() async throws {
    let store = try store()
    let known = KnownKeys()
    let uploads = try [("a", 1...3), ("b", 3...5), ("c", 6...7)].map {
      StoredUpload(try StoreScene.upload($0.0, keys($0.1)))
    }
    let together = try await store.pool.write {
      try SQLiteIntake(db: $0).accept(uploads, known: known)
    }
    #expect(
      together.map(outcome) == [
        "UploadOutcome(3 inserted, 0 revised)", "UploadOutcome(2 inserted, 0 revised)",
        "UploadOutcome(2 inserted, 0 revised)",
      ])
    #expect(try await counts(store) == [3, 1])
    let later = try await store.accept(StoreScene.upload("d", keys(5...8)))
    #expect(outcome(later) == "UploadOutcome(1 inserted, 0 revised)")
    let (first, second) = (try StoreScene.key(7), try StoreScene.key(8, .confirmedTest))
    let revision = try StoreScene.upload(
      "e", [first, second], revising: [first.revisable, second.revisable])
    #expect(outcome(try await store.accept(revision)) == "UploadOutcome(0 inserted, 1 revised)")
    let again = try await store.accept(StoreScene.upload("f", keys(8...8)))
    #expect(outcome(again) == "UploadOutcome(0 inserted, 0 revised)")
    try await store.settle()
    #expect(try await counts(store) == [8, 0])
  }

  @Test(
    "A key that is in the table is known without sorting in what waits, which would keep uploads")
  func knownInTheTable() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    try await store.settle()
    _ = try await store.accept(StoreScene.upload("b", keys(4...6)))
    let again = try await store.accept(StoreScene.upload("c", keys(3...3)))
    #expect(outcome(again) == "UploadOutcome(0 inserted, 0 revised)")
    #expect(try await counts(store) == [3, 1])
    let waiting = try await store.accept(StoreScene.upload("d", keys(6...7)))
    #expect(outcome(waiting) == "UploadOutcome(1 inserted, 0 revised)")
    #expect(try await counts(store) == [6, 1])
  }

  @Test("A commit that did not even begin makes nobody read the table anew")
  func notBegun() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    let latest = try await store.pool.write { db in try store.known.remembered(in: db) { $0.latest }
    }
    store.known.committed()
    store.known.undone()
    let after = try await store.pool.write { db in
      try store.known.remembered(in: db) { ($0.latest, $0.presence.count) }
    }
    // Read anew it would have been told of each key once.
    #expect(latest == 1 && after == (1, 3))
    let reads = Mutex(0)
    try await store.pool.writeWithoutTransaction { db in
      db.trace { event in
        if case .statement(let statement) = event, statement.sql.contains("count(*)") {
          reads.withLock { $0 += 1 }
        }
      }
    }
    store.known.undone()
    _ = try await store.accept(StoreScene.upload("b", keys(4...4)))
    store.known.undone()
    _ = try await store.accept(StoreScene.upload("c", keys(5...5)))
    #expect(reads.withLock { $0 } == 0)
  }

  @Test(
    "A padding key that comes again is known like any other, in every process that is at work",
    arguments: [1, 2])
  func padding(processes: Int) async throws {
    let exports = [StoreScene.export(minimum: 10)]
    let stores = try (0..<processes).map { _ in
      try SQLiteKeyStore(file: file, exports: exports, at: StoreScene.now)
    }
    for (number, store) in stores.enumerated() {
      let own = UInt8(number + 1)
      _ = try await store.accept(StoreScene.upload("\(number)", keys(own...own)))
    }
    let end = StoreScene.now + 4 * StoreScene.hour
    let plan = try #require(
      ClosingPlan(
        for: exports, after: try await stores[0].exportProgress(), at: end,
        randomness: SystemRandomness()))
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
        let answer = try await store.accept(
          StoreScene.upload("\(number) \(key.bytes)", [key], at: end))
        #expect(outcome(answer) == "UploadOutcome(0 inserted, 0 revised)")
      }
    }
  }

  @Test("A database of a later program is not opened, and says what to start instead")
  func later() async throws {
    try await store().pool.write {
      try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of a later one')")
    }
    #expect(throws: KeyServerError.laterDatabase) { try store() }
    #expect(throws: KeyServerError.laterDatabase) { try KeyServerRegistry(databaseFile: file) }
  }

  @Test("What another process adds is known, and what it sorts in and removes is not missed")
  func twoProcesses() async throws {
    let (one, other) = (try store(), try store())
    _ = try await one.accept(StoreScene.upload("a", keys(1...3)))
    _ = try await other.accept(StoreScene.upload("b", keys(4...6)))
    let both = try await one.accept(StoreScene.upload("c", keys(3...7)))
    #expect(outcome(both) == "UploadOutcome(1 inserted, 0 revised)")
    try await other.settle()
    let again = try await other.accept(StoreScene.upload("d", keys(7...8)))
    #expect(outcome(again) == "UploadOutcome(1 inserted, 0 revised)")
    try await one.settle()
    #expect(try await counts(one) == [8, 0])
  }

  @Test("A commit that fails is forgotten: the numbers go on, and the next upload is kept")
  func undone() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...2)))
    try await store.pool.write {
      try $0.execute(
        sql: """
          CREATE TRIGGER full BEFORE INSERT ON statistic BEGIN SELECT RAISE(ROLLBACK, 'full'); END
          """)
    }
    let upload = try StoreScene.upload("b", keys(3...4))
    await #expect(throws: DatabaseError.self) { try await store.accept(upload) }
    #expect(try await store.acceptance(of: upload) == nil)
    try await store.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
    // Meanwhile another process adds what would have had the same number.
    let other = try self.store()
    _ = try await other.accept(StoreScene.upload("c", keys(5...6)))
    #expect(
      outcome(try await store.accept(StoreScene.upload("d", keys(6...7))))
        == "UploadOutcome(1 inserted, 0 revised)")
    #expect(outcome(try await store.accept(upload)) == "UploadOutcome(2 inserted, 0 revised)")
    try await store.settle()
    #expect(try await counts(store) == [7, 0])
  }

  @Test("Keys that wait are as old as others, and go with them")
  func removed() async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    try await store.removeOld(Retention(at: StoreScene.now + 30 * 86_400))
    #expect(try await counts(store) == [0, 0])
  }

  @Test(
    "A damaged row ends whoever reads it, by its number and what to do; nothing is removed, and new keys are kept",
    arguments: [
      "substr(keys, 1, length(keys) - 1)", "x''", "x'02' || substr(keys, 2)",
      // No key of a phone's: it begins in the last interval there is, lasts too long, has no such risk.
      "substr(keys, 1, 17) || x'ffffffff' || substr(keys, 22)",
      "substr(keys, 1, 21) || x'91' || substr(keys, 23)",
      "substr(keys, 1, 22) || x'09' || substr(keys, 24)",
      // A mark that means nothing, and a region that is no text.
      "substr(keys, 1, 23) || x'10' || substr(keys, 25)",
      "substr(keys, 1, length(keys) - 1) || x'ff'",
    ])
  func damagedRow(_ damage: String) async throws {
    let store = try store()
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    _ = try await store.accept(StoreScene.upload("b", keys(4...6)))
    try await store.pool.write {
      try $0.execute(sql: "UPDATE waiting_keys SET keys = CAST(\(damage) AS BLOB) WHERE number = 2")
    }
    let plan = ClosingPlan(end: StoreScene.now + 1, periods: [], keyBytes: { [] })
    await #expect(throws: KeyServerError.damagedRow(2)) { try await store.close(plan) }
    _ = try await store.accept(StoreScene.upload("c", keys(7...9)))
    #expect(try await counts(store) == [0, 3])
    #expect("\(KeyServerError.damagedRow(2))".hasPrefix("Row 2 of waiting_keys"))
    // What the sentence says helps.
    try await store.pool.write { try $0.execute(sql: "DELETE FROM waiting_keys WHERE number = 2") }
    _ = try await store.close(plan)
    #expect(try await counts(store) == [6, 0])
  }

  @Test("Where sorting in fails the log says why, and the uploads are kept")
  func failureIsLogged() async throws {
    let log = CollectedLog()
    let store = try SQLiteKeyStore(
      file: file, exports: [StoreScene.export()], at: StoreScene.now,
      upkeep: SQLiteUpkeep(waitingKeysMax: 4), logger: log.logger)
    _ = try await store.accept(StoreScene.upload("a", keys(1...3)))
    try await store.pool.write { try $0.execute(sql: "UPDATE waiting_keys SET keys = x'00'") }
    _ = try await store.accept(StoreScene.upload("b", keys(4...4)))
    try await Patience.until { !log.lines.isEmpty }
    #expect(log.errors == ["keys were not sorted in: they wait on"])
    #expect(log.lines.first?.contains("Row 1 of waiting_keys") == true)
    #expect(try await counts(store) == [0, 2])
  }
}
