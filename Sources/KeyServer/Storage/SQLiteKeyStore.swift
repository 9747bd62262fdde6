import ExposureKeys
import Foundation
import GRDB
import ServerStorage

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
        arguments: [retention.filesEndedBy.wholeSeconds])
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
            "limit": limit.wholeSeconds,
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
      Date(timeIntervalSince1970: Double($0))
    }
    return retention.keysFrom(oldestFile: oldest)
  }
}

/// Commits concurrent uploads in one transaction, and so with one sync of the disk.
///
/// While one group is committed, the next one accumulates. An upload gets its result when its group is on the disk. If
/// a group fails, each of its uploads is retried alone, so that one that cannot be stored does not affect others.
actor GroupCommit<Upload: Sendable> {
  typealias Commit = @Sendable ([Upload]) async throws -> [Acceptance]
  private typealias Pending = (
    upload: Upload, continuation: CheckedContinuation<Acceptance, any Error>
  )

  private let commit: Commit
  private var pending: [Pending] = []
  private var isCommitting = false

  /// - Parameter commit: Stores all uploads or none, and returns one result for each.
  init(_ commit: @escaping Commit) {
    self.commit = commit
  }

  /// The number of uploads that are not in a commit yet.
  var pendingCount: Int { pending.count }

  /// Stores `upload` and returns the result when it is on the disk.
  func accept(_ upload: Upload) async throws -> Acceptance {
    try await withCheckedThrowingContinuation { continuation in
      pending.append((upload, continuation))
      guard !isCommitting else { return }
      isCommitting = true
      Task { await self.commitAll() }
    }
  }

  private func commitAll() async {
    while !pending.isEmpty {
      let group = Array(pending.prefix(KeyServerLimit.uploadsInOneCommit))
      pending.removeFirst(group.count)
      for (pending, result) in zip(group, await results(of: group.map(\.upload))) {
        pending.continuation.resume(with: result)
      }
    }
    isCommitting = false
  }

  private func results(of uploads: [Upload]) async -> [Result<Acceptance, any Error>] {
    do {
      return try await commit(uploads).map { .success($0) }
    } catch  where uploads.count > 1 {
      var results: [Result<Acceptance, any Error>] = []
      for upload in uploads { results += await self.results(of: [upload]) }
      return results
    } catch {
      return uploads.map { _ in .failure(error) }
    }
  }
}

extension Date {
  /// Unix seconds, rounded down.
  var wholeSeconds: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}
