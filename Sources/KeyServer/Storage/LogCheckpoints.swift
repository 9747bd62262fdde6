// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import GRDBSQLite
import ServerStorage
import Synchronization

/// Runs checkpoints of the write-ahead log concurrently with commits.
///
/// SQLite runs a checkpoint in the commit that fills the log, which takes 100 ms, or seconds with millions of keys.
/// Here a separate connection copies most pages, and syncs the file. The writing connection then copies and syncs only
/// the pages that were written meanwhile, and the log is reset. See https://www.sqlite.org/wal.html#checkpointing.
///
/// Under load checkpoints are rare: the longer the log, the fewer versions of a page are copied. Small commits start
/// one earlier, after a pause, so that it delays few commits.
final class LogCheckpoints: Sendable {
  private let database: ServerDatabase
  private let copying: DatabaseQueue
  private let log: Log
  private let isRunning = Atomic<Bool>(false)
  /// Checked before each checkpoint, which would crash on a closed connection.
  private let isClosed = Atomic<Bool>(false)
  /// The time between two checkpoints under light load.
  private let pause: Duration
  /// The end of the last checkpoint, or the start of the server.
  private let lastEnd = Mutex(ContinuousClock.now)
  private let syncs = Atomic<Int>(0)

  /// The maximum number of passes of the separate connection; each leaves fewer pages for the writing connection.
  private static let copiesMax = 3
  /// The divisor of `pagesMax` for the number of pages that may be left for the writing connection.
  private static let partLeftMax = 32
  /// The divisor of `pagesMax` for the log length at which a checkpoint starts under light load.
  private static let lightLoadDivisor = 128
  /// The multiple of `pagesMax` from which on checkpoints count as failing.
  private static let overdueFactor = 3

  /// Replaces SQLite's own checkpoints of the writing connection of `database`, which is in `file`.
  ///
  /// - Parameter pages: The length of the log, in pages, at which a checkpoint starts.
  init(
    _ database: ServerDatabase, file: URL, schema: DatabaseSchema,
    pages: Int = SQLiteLimit.logPages, lightLoadPause: Duration = SQLiteLimit.lightLoadPause
  ) throws {
    self.database = database
    pause = lightLoadPause
    copying = try ServerDatabase.openConnection(file, schema: schema)
    log = Log(pagesMax: pages)
    log.isLong.withLock { $0 = { [weak self] in self?.start() } }
    database.pool.writeWithoutTransaction { [log] db in
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

  /// The number of syncs by the separate connection beside commits. A checkpoint of the whole log syncs by itself, and
  /// is not counted.
  var syncCount: Int { syncs.load(ordering: .relaxed) }

  /// Starts a checkpoint under light load. Call it after a commit of `count` uploads.
  func committed(uploads count: Int) {
    guard count <= SQLiteLimit.lightLoadUploads, logPages >= log.pagesMax / Self.lightLoadDivisor,
      ContinuousClock.now - lastEnd.withLock(\.self) >= pause
    else {
      return
    }
    start()
  }

  private func start() {
    guard !isRunning.exchange(true, ordering: .relaxed) else { return }
    Task {
      // After a failure a later commit starts another checkpoint: the next one if the log is long.
      try? await run()
      lastEnd.withLock { $0 = .now }
      isRunning.store(false, ordering: .relaxed)
    }
  }

  private func run() async throws {
    var (left, copied) = (0, 0)
    for _ in 0..<Self.copiesMax {
      let before = copied
      copied = try await copying.writeWithoutTransaction(checkpoint)
      left = logPages - copied
      // A reader keeps the rest from being copied.
      if copied == before { break }
      if left <= log.pagesMax / Self.partLeftMax { break }
    }
    // A checkpoint of the whole log has synced the file.
    if left > 0 {
      try await copying.writeWithoutTransaction { [self] db in
        try sync(db)
        // The commits during the sync.
        _ = try checkpoint(db)
      }
    }
    _ = try await database.pool.writeWithoutTransaction(checkpoint)
  }

  /// Runs a passive checkpoint.
  ///
  /// - Returns: The number of pages of the log that have been copied, now or before.
  @Sendable private func checkpoint(_ db: Database) throws -> Int {
    guard !isClosed.load(ordering: .acquiring) else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE)
    }
    return try db.checkpoint(.passive).checkpointedFrameCount
  }

  /// Syncs the file of the database. A checkpoint does that only if it has copied the whole log; otherwise the pages of
  /// all passes would be synced by the writing connection, while commits wait.
  ///
  /// It is done once, because each sync slows the commits beside it down. It uses the descriptor of the connection:
  /// closing another one would end the locks of the process.
  private func sync(_ db: Database) throws {
    guard !isClosed.load(ordering: .acquiring) else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE)
    }
    var file: UnsafeMutablePointer<sqlite3_file>?
    let status = sqlite3_file_control(
      db.sqliteConnection, nil, SQLITE_FCNTL_FILE_POINTER, &file)
    guard status == SQLITE_OK, let file, let sync = file.pointee.pMethods?.pointee.xSync,
      sync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) == SQLITE_OK
    else { throw DatabaseError(resultCode: .SQLITE_IOERR) }
    syncs.add(1, ordering: .relaxed)
  }

  /// Removes the hook, and closes the separate connection after a running checkpoint. Call it before the pool is
  /// closed; otherwise the hook's context leaks.
  func close() throws {
    isClosed.store(true, ordering: .releasing)
    database.pool.writeWithoutTransaction { [log] db in
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
