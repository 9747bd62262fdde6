import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log into the database file while uploads are committed.
///
/// SQLite does that in the commit that fills the log, which takes 100 ms, or seconds with millions of keys. Here a
/// connection of its own copies most pages. The writing connection copies only those that were written meanwhile, and
/// the log begins again. See https://www.sqlite.org/wal.html#checkpointing.
///
/// Under full load the log is long: the longer it is, the more states of a page are never copied. With less load it
/// is copied early, in small parts that delay few commits.
final class LogCheckpoints: Sendable {
  private let pool: DatabasePool
  private let copying: DatabaseQueue
  private let log: Log
  private let isRunning = Atomic<Bool>(false)
  /// Checked in each access: a checkpoint of a closed connection would crash.
  private let isClosed = Atomic<Bool>(false)

  /// The copies without the writing connection: with each, fewer pages are left for it.
  private static let copiesMax = 3
  /// The part of the log that the writing connection may copy.
  private static let partLeftMax = 16
  /// The part of the longest log at which it is copied when there is less load.
  private static let calmPart = 64
  /// A log that is this many times longer than it should be could not be copied.
  private static let overdueFactor = 4

  /// Replaces SQLite's own checkpoints of the writing connection of `pool`, the database in `file`.
  ///
  /// - Parameter pages: The length of the log, in pages, at which it is copied.
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

  /// True if the log is much longer than it should be: its copies fail, or never end.
  var isOverdue: Bool { logPages > Self.overdueFactor * log.pagesMax }

  /// To be called after a commit of `count` uploads.
  func committed(uploads count: Int) {
    guard count <= SQLiteLimit.uploadsOfCalmCommit, logPages >= log.pagesMax / Self.calmPart else {
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

  /// Copies the pages that no transaction needs.
  ///
  /// - Returns: The number of copied pages.
  @Sendable private func checkpoint(_ db: Database) throws -> Int {
    guard !isClosed.load(ordering: .acquiring) else {
      throw DatabaseError(resultCode: .SQLITE_MISUSE)
    }
    return try db.checkpoint(.passive).checkpointedFrameCount
  }

  /// Closes the connection of its own after a running checkpoint. To be called before the pool is closed. Without it,
  /// the hook keeps the length in memory.
  func close() throws {
    isClosed.store(true, ordering: .releasing)
    pool.writeWithoutTransaction { [log] db in
      guard sqlite3_wal_hook(db.sqliteConnection, nil, nil) != nil else { return }
      Unmanaged.passUnretained(log).release()
    }
    try copying.close()
  }

  /// The log, as its last commit left it.
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
