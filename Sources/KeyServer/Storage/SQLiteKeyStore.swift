// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import GRDBSQLite
import ServerStorage
import Synchronization
import World

/// The key database in one SQLite file. Every commit is on the disk before its uploads get a response.
struct SQLiteKeyStore: KeyStore {
  let pool: DatabasePool
  let damage = StoredDamage()
  private let file: DatabaseFile
  private let commits: GroupCommit<StoredUpload>
  let checkpoints: LogCheckpoints

  /// Opens or creates the file. Each new one of `exports` begins with the period that contains `now`.
  ///
  /// - Parameter keys: The keys that the database must belong to; nil for no check.
  /// - Throws: `KeyServerError`; `DatabaseError`.
  init(
    file: URL, keys: DatabaseKeys? = nil, exports: [ExportConfiguration], at now: Date
  ) throws {
    try self.init(file: file)
    try pool.write { db in
      if let keys, try !ServerState.belongs(to: keys.check, in: db) {
        throw KeyServerError.otherDatabaseKey
      }
      try Self.begin(exports, at: now, in: db)
    }
  }

  /// Opens or creates the file and migrates it to the current schema.
  ///
  /// - Parameter logPages: The length of the write-ahead log, in pages, at which a checkpoint starts.
  /// - Throws: `KeyServerError.newerDatabase` if a newer version has migrated it; `DatabaseError`.
  init(
    file: URL, migrations: DatabaseMigrator = SQLiteSchema.migrations,
    logPages: Int = SQLiteLimit.logPages
  ) throws {
    Self.createPrivately(file)
    pool = try DatabasePool(path: file.path, configuration: Self.configuration)
    // Set after the pool has enabled WAL mode, which sets NORMAL: the latest commits would be lost in a power
    // failure.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    guard try !pool.writeWithoutTransaction(migrations.hasBeenSuperseded) else {
      throw KeyServerError.newerDatabase
    }
    try migrations.migrate(pool)
    let opened = DatabaseFile(opened: file)
    self.file = opened
    checkpoints = try LogCheckpoints(pool, file: file, pages: logPages)
    commits = GroupCommit { [pool, damage, checkpoints] uploads in
      guard !damage.isWritingUnsafe else { throw KeyServerError.damagedDatabase }
      let acceptances = try await pool.write { try SQLiteUploads(db: $0).accept(uploads) }
      checkpoints.committed(uploads: uploads.count)
      // Writes to a deleted file succeed but are lost.
      guard opened.isInPlace else { throw KeyServerError.lostDatabase }
      return acceptances
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    // Another process may write too, such as the command that adds an app.
    configuration.busyMode = .timeout(SQLiteLimit.busySeconds)
    configuration.prepareDatabase { db in
      // Overwrites deleted data: a deleted key must not be readable from a free page.
      try db.execute(sql: "PRAGMA secure_delete = ON")
      guard !db.configuration.readonly else { return }
      // Keys and tokens are random, so nearly every row changes another page. Small pages reduce the amount of
      // written data. With a long log, a checkpoint copies only the last version of each page.
      try db.execute(sql: "PRAGMA page_size = \(SQLiteLimit.pageBytes)")
      try db.execute(sql: "PRAGMA wal_autocheckpoint = \(SQLiteLimit.logPages)")
      try db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiB)")
    }
    return configuration
  }

  /// Creates a missing file with mode 0600, because it contains unpublished keys. SQLite uses the same
  /// mode for the log, and reports an error if the file could not be created.
  private static func createPrivately(_ file: URL) {
    guard !FileManager.default.fileExists(atPath: file.path) else { return }
    _ = FileManager.default.createFile(
      atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
  }

  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance? {
    try await pool.read { try SQLiteUploads(db: $0).acceptance(of: upload) }
  }

  func accept(_ upload: AdmittedUpload) async throws -> Acceptance {
    try await commits.accept(StoredUpload(upload))
  }

  func isInPlace() -> Bool { file.isInPlace }

  func isLogOverdue() -> Bool { checkpoints.isOverdue }

  func skippedKeyCount() -> Int { damage.skippedRowCount }

  func clockRecord() async throws -> ClockRecord {
    try await pool.read { try ServerState.clockRecord(in: $0) }
  }

  func keep(_ now: Date) async throws { try await pool.write { try ServerState.keep(now, in: $0) } }

  /// Inserts keys without an upload, in one transaction.
  func insert(_ keys: [PublishableKey]) throws {
    try pool.write { try KeyInsertion(in: $0).insert(keys.map { StoredKey($0) }) }
  }

  /// Closes all connections, with a final checkpoint.
  func close() throws {
    try checkpoints.close()
    try pool.close()
  }
}

extension SQLiteKeyStore {
  func removeOld(_ retention: RetentionLimits) async throws {
    guard !damage.isWritingUnsafe else { throw KeyServerError.damagedDatabase }
    let needed = try await pool.write { db in
      try db.execute(
        sql: "DELETE FROM export_file WHERE end_at <= ?",
        arguments: [retention.filesEndedBy.unixSecond])
      try db.execute(
        sql: "DELETE FROM statistic WHERE hour < ?", arguments: [retention.countsFrom])
      return try Self.oldestNeeded(retention, in: db)
    }
    try await deleteInParts(
      """
      DELETE FROM diagnosis_key WHERE key_data >= $first AND key_data < $end
        AND released_at < $limit AND (revised_released_at IS NULL OR revised_released_at < $limit)
      """, limit: needed)
    try await deleteInParts(
      """
      DELETE FROM upload WHERE token_digest >= $first AND token_digest < $end
        AND kept_until <= $limit
      """, limit: retention.now)
  }

  /// Scans a whole table, one part per transaction, so that uploads are committed in between.
  private func deleteInParts(_ sql: String, limit: Date) async throws {
    let step = 256 / SQLiteLimit.partsOfTables
    for first in stride(from: 0, to: 256, by: step) {
      try await pool.write { db in
        try db.execute(
          sql: sql,
          arguments: [
            "first": Data([UInt8(first)]), "end": Self.end(ofPart: first + step),
            "limit": limit.unixSecond,
          ])
      }
    }
  }

  /// An upper bound of the keys or digests of a part; a digest has 32 bytes.
  private static func end(ofPart last: Int) -> Data {
    UInt8(exactly: last).map { Data([$0]) } ?? Data(repeating: .max, count: 33)
  }

  private static func oldestNeeded(_ retention: RetentionLimits, in db: Database) throws -> Date {
    let oldest = try Int64.fetchOne(db, sql: "SELECT min(start_at) FROM export_file").map {
      Date(unixSecond: $0)
    }
    return retention.keysFrom(oldestFile: oldest)
  }
}

/// The damage that was found in a database while it was read, and by its last check.
final class StoredDamage: Sendable {
  private let skippedRows = Atomic<Int>(0)
  private let isStructureDamaged = Atomic<Bool>(false)

  /// Counts a row that was left out of a file because its checksum is wrong.
  func addSkippedRow() { skippedRows.add(1, ordering: .relaxed) }

  /// True if SQLite found a fault in the last check. Then writes are rejected, because they could be lost.
  var isWritingUnsafe: Bool {
    get { isStructureDamaged.load(ordering: .relaxed) }
    set { isStructureDamaged.store(newValue, ordering: .relaxed) }
  }

  /// The number of rows that were left out of files since the start.
  var skippedRowCount: Int { skippedRows.load(ordering: .relaxed) }
}

extension SQLiteKeyStore {
  /// Checks the structure of the database, and the checksum of each key.
  func check() async throws -> StoreCheck {
    let check = try await pool.read { db in
      guard try DatabaseCheck.isIntact(db) else { return StoreCheck(isStructureIntact: false) }
      return StoreCheck(damagedKeys: try Self.damagedKeys(in: db))
    }
    damage.isWritingUnsafe = !check.isStructureIntact
    return check
  }

  private static func damagedKeys(in db: Database) throws -> Int {
    var count = 0
    try rows(in: db) { row in if !row.isIntact { count += 1 } }
    return count
  }

  /// Computes the checksums of all keys again, after a change of the table as a whole.
  static func renewChecksums(in db: Database) throws {
    var checksums: [(key: Data, checksum: Int64, revision: Int64?)] = []
    try rows(in: db) { row in
      checksums.append((row.keyData, row.checksum, row.isEverRevised ? row.revisionChecksum : nil))
    }
    let update = try db.makeStatement(
      sql: "UPDATE diagnosis_key SET checksum = ?, revision_checksum = ? WHERE key_data = ?")
    for row in checksums {
      try update.execute(arguments: [row.checksum, row.revision, row.key])
    }
  }

  private static func rows(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    let statement = try db.makeStatement(
      sql: "SELECT \(StoredKeyRow.Columns.all.rawValue) FROM diagnosis_key")
    try statement.forEachRow([], in: db) { try body(StoredKeyRow($0, end: .max)) }
  }
}

/// Runs checkpoints of the write-ahead log concurrently with commits.
///
/// SQLite runs a checkpoint in the commit that fills the log, which takes 100 ms, or seconds with millions of keys.
/// Here a separate connection copies most pages. The writing connection then copies only the pages that were written
/// meanwhile, and the log is reset. See https://www.sqlite.org/wal.html#checkpointing.
///
/// Under full load checkpoints are rare: the longer the log, the fewer versions of a page are copied. Under light load
/// they are frequent and small, so that they delay few commits.
final class LogCheckpoints: Sendable {
  private let pool: DatabasePool
  private let copying: DatabaseQueue
  private let log: Log
  private let isRunning = Atomic<Bool>(false)
  /// Checked before each checkpoint, which would crash on a closed connection.
  private let isClosed = Atomic<Bool>(false)

  /// The maximum number of passes of the separate connection; each leaves fewer pages for the writing connection.
  private static let copiesMax = 3
  /// The divisor of `pagesMax` for the number of pages that may be left for the writing connection.
  private static let partLeftMax = 16
  /// The divisor of `pagesMax` for the log length at which a checkpoint starts under light load.
  private static let lightLoadDivisor = 64
  /// The multiple of `pagesMax` from which on checkpoints count as failing.
  private static let overdueFactor = 4

  /// Replaces SQLite's own checkpoints of the writing connection of `pool`, the database in `file`.
  ///
  /// - Parameter pages: The length of the log, in pages, at which a checkpoint starts.
  init(_ pool: DatabasePool, file: URL, pages: Int = SQLiteLimit.logPages) throws {
    self.pool = pool
    var configuration = Configuration()
    configuration.busyMode = .timeout(SQLiteLimit.busySeconds)
    copying = try DatabaseQueue(path: file.path, configuration: configuration)
    log = Log(pagesMax: pages)
    log.isLong.withLock { $0 = { [weak self] in self?.start() } }
    pool.writeWithoutTransaction { [log] db in
      // Replaces the hook of `wal_autocheckpoint`.
      _ = sqlite3_wal_hook(
        db.sqliteConnection,
        { log, _, _, pages in
          guard let log else { return SQLITE_MISUSE }
          Unmanaged<Log>.fromOpaque(log).takeUnretainedValue().grew(to: Int(pages))
          return SQLITE_OK
        }, Unmanaged.passRetained(log).toOpaque())
    }
  }

  /// The length of the log after the last commit.
  var logPages: Int { log.pages.load(ordering: .relaxed) }

  /// True if the log is much longer than `pagesMax`: checkpoints fail or do not complete.
  var isOverdue: Bool { logPages > Self.overdueFactor * log.pagesMax }

  /// Starts a checkpoint under light load. Call it after a commit of `count` uploads.
  func committed(uploads count: Int) {
    guard count <= SQLiteLimit.lightLoadUploads, logPages >= log.pagesMax / Self.lightLoadDivisor
    else {
      return
    }
    start()
  }

  private func start() {
    guard !isRunning.exchange(true, ordering: .relaxed) else { return }
    Task {
      // After a failure the log is longer, and the next commit starts another checkpoint.
      try? await run()
      isRunning.store(false, ordering: .relaxed)
    }
  }

  private func run() async throws {
    for _ in 0..<Self.copiesMax {
      let copied = try await copying.writeWithoutTransaction(checkpoint)
      let left = logPages - copied
      if left <= log.pagesMax / Self.partLeftMax { break }
    }
    _ = try await pool.writeWithoutTransaction(checkpoint)
  }

  /// Runs a passive checkpoint.
  ///
  /// - Returns: The number of copied pages.
  @Sendable private func checkpoint(_ db: Database) throws -> Int {
    guard !isClosed.load(ordering: .acquiring) else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE)
    }
    return try db.checkpoint(.passive).checkpointedFrameCount
  }

  /// Removes the hook, and closes the separate connection after a running checkpoint. Call it before the pool is
  /// closed; otherwise the hook's context leaks.
  func close() throws {
    isClosed.store(true, ordering: .releasing)
    pool.writeWithoutTransaction { [log] db in
      guard sqlite3_wal_hook(db.sqliteConnection, nil, nil) != nil else { return }
      Unmanaged.passUnretained(log).release()
    }
    try copying.close()
  }

  /// The context of the write-ahead log hook: the length of the log after the last commit.
  private final class Log: Sendable {
    let pagesMax: Int
    let pages = Atomic<Int>(0)
    /// Called in each commit that leaves a log of at least `pagesMax` pages.
    let isLong = Mutex<@Sendable () -> Void>({})

    init(pagesMax: Int) {
      self.pagesMax = pagesMax
    }

    func grew(to pages: Int) {
      self.pages.store(pages, ordering: .relaxed)
      if pages >= pagesMax { isLong.withLock { $0 }() }
    }
  }
}
