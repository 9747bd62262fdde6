import ExposureKeys
import Foundation
import GRDB
import Logging

/// The key database in one SQLite file, every commit on the disk before it is answered.
struct SQLiteKeyStore: KeyStore {
  let pool: DatabasePool
  let known = KnownKeys()
  private let commits: GroupCommit<StoredUpload>

  /// Opens the file, or makes it, and brings its tables up to date. Where one of `exports` is new, its
  /// first period is the one that `now` is in.
  init(
    file: URL, exports: [ExportConfiguration], at now: Date,
    upkeep: SQLiteUpkeep = SQLiteUpkeep(), logger: Logger? = nil
  ) throws {
    try self.init(file: file, upkeep: upkeep, logger: logger)
    try pool.write { try Self.begin(exports, at: now, in: $0) }
  }

  /// Opens the file, or makes it, and brings its tables up to date.
  init(file: URL, upkeep: SQLiteUpkeep = SQLiteUpkeep(), logger: Logger? = nil) throws {
    Self.makePrivate(file)
    pool = try DatabasePool(path: file.path, configuration: Self.configuration)
    // Here and not in the configuration: the pool sets NORMAL when it turns the log on, which would
    // lose the latest commits with the power.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    guard try !pool.writeWithoutTransaction(SQLiteMigrations.all.hasBeenSuperseded) else {
      throw KeyServerError.laterDatabase
    }
    try SQLiteMigrations.all.migrate(pool)
    let log = LogCopying(of: pool, pageCountMax: upkeep.pagesInLogMax)
    let sorting = Self.sortingIn(pool, log, each: upkeep.waitingKeysMax, logger)
    commits = GroupCommit { [pool, known] uploads in
      let acceptances: [Acceptance]
      do {
        acceptances = try await pool.write {
          try SQLiteIntake(db: $0).accept(uploads, known: known)
        }
      } catch {
        known.undone()
        throw error
      }
      known.committed()
      log.committed(pageCount: uploads.count * SQLiteLimit.pagesOfOneUpload)
      sorting.add(uploads.reduce(0) { $0 + $1.inserted.count })
      return acceptances
    }
  }

  private static func sortingIn(
    _ pool: DatabasePool, _ log: LogCopying, each keyCountMax: Int, _ logger: Logger?
  ) -> DueWork {
    DueWork("sorting in", each: keyCountMax) {
      do { try SortingIn(writer: pool, log: log).run() } catch {
        logger?.error(
          "keys were not sorted in: they wait on", metadata: KeyServerError.metadata(of: error))
      }
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    // Another process may write too, such as the command that adds an app: wait for it.
    configuration.busyMode = .timeout(SQLiteLimit.busySeconds)
    configuration.prepareDatabase { db in
      // What was removed is overwritten: a key that is gone must not be read from a free page.
      try db.execute(sql: "PRAGMA secure_delete = ON")
      guard !db.configuration.readonly else { return }
      // Tokens come in an order that has nothing to do with the table's, so nearly each of them changes
      // a page of its own: small pages are less to write, and a long log takes each page's last state.
      try db.execute(sql: "PRAGMA page_size = \(SQLiteLimit.pageBytes)")
      try db.execute(sql: "PRAGMA wal_autocheckpoint = \(SQLiteLimit.logPages)")
      try db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiB)")
    }
    return configuration
  }

  /// Makes the file, where there is none, for its owner only: it holds keys before their release.
  /// SQLite gives its log the same rights, and says itself where there can be no file.
  private static func makePrivate(_ file: URL) {
    guard !FileManager.default.fileExists(atPath: file.path) else { return }
    _ = FileManager.default.createFile(
      atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
  }

  func acceptance(of upload: AdmittedUpload) async throws -> Acceptance? {
    try await pool.read { try SQLiteIntake(db: $0).acceptance(of: upload) }
  }

  func accept(_ upload: AdmittedUpload) async throws -> Acceptance {
    try await commits.accept(StoredUpload(upload))
  }

  func removeOld(_ retention: Retention) async throws {
    // First what makes room: sorting in needs some.
    try await pool.write { db in
      try db.execute(
        sql: "DELETE FROM export_file WHERE end_at <= ?",
        arguments: [retention.filesEndedBy.wholeSeconds])
      try Self.removeOldKeys(retention, in: db)
      try db.execute(
        sql: "DELETE FROM statistic WHERE hour < ?", arguments: [retention.countsFrom])
    }
    try await removeOldTokens(retention)
    try await pool.write { db in
      try WaitingKeys(db: db).sortIn()
      try Self.removeOldKeys(retention, in: db)
    }
  }

  /// The table is read to its end for it, a part in a transaction, so that uploads go on between.
  private func removeOldTokens(_ retention: Retention) async throws {
    let step = 256 / SQLiteLimit.partsOfTokens
    for first in stride(from: 0, to: 256, by: step) {
      try await pool.write { db in
        try db.execute(
          sql: """
            DELETE FROM upload WHERE token_digest >= ? AND token_digest < ? AND kept_until <= ?
            """,
          arguments: [
            Data([UInt8(first)]), Self.end(ofPart: first + step), retention.now.wholeSeconds,
          ])
      }
    }
  }

  /// What no digest of the part reaches: none has more than 32 bytes.
  private static func end(ofPart last: Int) -> Data {
    UInt8(exactly: last).map { Data([$0]) } ?? Data(repeating: .max, count: 33)
  }

  private static func removeOldKeys(_ retention: Retention, in db: Database) throws {
    let oldest = try Int64.fetchOne(db, sql: "SELECT min(start_at) FROM export_file").map {
      Date(timeIntervalSince1970: Double($0))
    }
    try db.execute(
      sql: """
        DELETE FROM diagnosis_key WHERE released_at < $needed
          AND (revised_released_at IS NULL OR revised_released_at < $needed)
        """,
      arguments: ["needed": retention.keysFrom(oldestFile: oldest).wholeSeconds])
  }

  func settle() async throws {
    try await pool.write { try WaitingKeys(db: $0).sortIn() }
  }
}
