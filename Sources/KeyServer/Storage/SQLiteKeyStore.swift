// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import ServerStorage
import World

/// The key database in one SQLite file. Every commit is on the disk before its uploads get a response.
struct SQLiteKeyStore: KeyStore {
  let database: ServerDatabase
  let skippedRows = SkippedRows()
  private let commits: GroupCommit<AdmittedUpload>
  let checkpoints: LogCheckpoints

  /// Opens or creates the file. Each new one of `exports` begins with the period that contains `now`.
  ///
  /// - Parameter keys: The keys that the database must belong to; nil for no check.
  /// - Throws: `KeyServerError`; `DatabaseError`.
  init(
    file: URL, keys: DatabaseKeys? = nil, exports: [ExportConfiguration], at now: Date
  ) throws {
    try self.init(file: file, keys: keys)
    try mappingErrors { try database.write { try Self.begin(exports, at: now, in: $0) } }
  }

  /// Opens or creates the file and migrates it to the current schema.
  ///
  /// - Parameters:
  ///   - keys: The keys that the database must belong to; nil for no check.
  ///   - logPages: The length of the write-ahead log, in pages, at which a checkpoint starts.
  ///   - lightLoadPause: The time between two checkpoints under light load.
  /// - Throws: `KeyServerError`; `.newerDatabase` if a newer version has migrated the file.
  init(
    file: URL, keys: DatabaseKeys? = nil, schema: DatabaseSchema = SQLiteSchema.schema,
    logPages: Int = SQLiteLimit.logPages,
    lightLoadPause: Duration = SQLiteLimit.lightLoadPause
  ) throws(KeyServerError) {
    do {
      database = try ServerDatabase.open(file, schema: schema, secretCheck: keys?.check)
      checkpoints = try LogCheckpoints(
        database, file: file, schema: schema, pages: logPages, lightLoadPause: lightLoadPause)
    } catch let error as ServerDatabaseError {
      throw KeyServerError(error)
    } catch {
      throw .database
    }
    commits = GroupCommit { [database, checkpoints] uploads in
      try await mappingErrors {
        let acceptances = try await database.write { try SQLiteUploads(db: $0).accept(uploads) }
        checkpoints.committed(uploads: uploads.count)
        return acceptances
      }
    }
  }

  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance? {
    try await database.read { try SQLiteUploads(db: $0).acceptance(of: upload) }
  }

  func accept(_ upload: AdmittedUpload) async throws -> Acceptance {
    try await commits.accept(upload)
  }

  func isInPlace() -> Bool { database.isInPlace }

  func isLogOverdue() -> Bool { checkpoints.isOverdue }

  func skippedKeyCount() -> Int { skippedRows.count }

  func clockRecord() async throws -> ClockRecord {
    try await database.read { try ServerState.clockRecord(in: $0) }
  }

  func keep(_ now: Date) async throws { try await write { try ServerState.keep(now, in: $0) } }

  /// Runs a transaction.
  ///
  /// - Throws: `KeyServerError.lostDatabase` also if the file was deleted: the transaction then succeeded but is lost.
  func write<Value: Sendable>(
    _ updates: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await mappingErrors { try await database.write(updates) }
  }

  /// Inserts keys without an upload, in one transaction.
  func insert(_ keys: [PublishableKey]) throws {
    try mappingErrors {
      _ = try database.write { try KeyInsertion(in: $0).insert(keys) }
    }
  }

  /// Closes all connections, with a final checkpoint.
  func close() throws {
    try checkpoints.close()
    try database.close()
  }
}

extension SQLiteKeyStore {
  func removeOld(_ retention: RetentionLimits) async throws {
    let needed = try await write { db in
      try db.execute(
        sql: "DELETE FROM export_file WHERE end_at <= ?",
        arguments: [retention.filesEndedBy.unixSecond])
      try db.execute(
        sql: "DELETE FROM withdrawn_file_key WHERE end_at <= ?",
        arguments: [retention.filesEndedBy.unixSecond])
      try db.execute(
        sql: "DELETE FROM imported_file WHERE imported_at < ?",
        arguments: [retention.importsFrom.unixSecond])
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
      try await write { db in
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
    let oldest = try Int64.fetchOne(
      db,
      sql: """
        SELECT min(start_at) FROM export_file
        WHERE export NOT IN (\(databaseQuestionMarks(count: RollUps.roots.count)))
        """, arguments: StatementArguments(RollUps.roots)
    ).map { Date(unixSecond: $0) }
    return retention.keysFrom(oldestFile: oldest)
  }
}

extension SQLiteKeyStore {
  /// Checks the structure of the database, and the checksum of each key.
  func check() async throws -> StoreCheck {
    let damagedKeys = try await database.check { try Self.damagedKeys(in: $0) }
    return damagedKeys.map { StoreCheck(damagedKeys: $0) } ?? StoreCheck(isStructureIntact: false)
  }

  /// Counts the keys with a wrong checksum.
  static func damagedKeys(in db: Database) throws -> Int {
    var count = 0
    try rows(in: db) { row in
      if !row.isIntact { count += 1 }
    }
    return count
  }

  /// Computes the checksums of all keys again, after a change of the table as a whole.
  static func renewChecksums(in db: Database) throws {
    var checksums: [(key: Data, checksum: Int64, revision: Int64?)] = []
    try rows(in: db) { row in
      checksums.append((row.keyData, row.checksum, row.revisionChecksum))
    }
    let update = try db.makeStatement(
      sql: "UPDATE diagnosis_key SET checksum = ?, revision_checksum = ? WHERE key_data = ?")
    for row in checksums {
      try update.execute(arguments: [row.checksum, row.revision, row.key])
    }
  }

  private static func rows(in db: Database, _ body: (StoredKeyRow) throws -> Void) throws {
    try StoredKeyRows.forEach(in: db, from: "diagnosis_key", end: .max) { row in
      try body(row)
      return true
    }
  }
}

/// Runs `work` and turns an error of the database's file into a `KeyServerError`.
private func mappingErrors<Result>(_ work: () throws -> Result) throws -> Result {
  do { return try work() } catch let error as ServerDatabaseError { throw KeyServerError(error) }
}

/// The asynchronous variant.
private func mappingErrors<Result: Sendable>(
  _ work: () async throws -> Result
) async throws -> Result {
  do {
    return try await work()
  } catch let error as ServerDatabaseError {
    throw KeyServerError(error)
  }
}
