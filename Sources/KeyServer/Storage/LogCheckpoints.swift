import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log into the database file while uploads are committed.
///
/// SQLite does that in the commit that fills the log, which takes 100 ms, or seconds with millions of keys. Here a
/// connection of its own copies most pages. The writing connection copies only those that were written meanwhile, and
/// the log begins again. See https://www.sqlite.org/wal.html#checkpointing.
final class LogCheckpoints: Sendable {
  private let pool: DatabasePool
  private let copying: DatabaseQueue
  private let log = LogLength()
  private let isRunning = Atomic<Bool>(false)

  /// The copies without the writing connection: with each, fewer pages are left for it.
  private static let copiesMax = 3
  /// The pages that the writing connection may copy.
  private static let pagesLeftMax = SQLiteLimit.logPages / 16

  /// Turns off SQLite's own checkpoints of the writing connection of `pool`, the database in `file`.
  init(_ pool: DatabasePool, file: URL) throws {
    self.pool = pool
    var configuration = Configuration()
    configuration.busyMode = .timeout(SQLiteLimit.busySeconds)
    copying = try DatabaseQueue(path: file.path, configuration: configuration)
    pool.writeWithoutTransaction { [log] db in
      // Replaces the hook of `wal_autocheckpoint`.
      _ = sqlite3_wal_hook(
        db.sqliteConnection,
        { log, _, _, pages in
          guard let log else { return SQLITE_MISUSE }
          let length = Unmanaged<LogLength>.fromOpaque(log).takeUnretainedValue()
          length.pages.store(Int(pages), ordering: .relaxed)
          return SQLITE_OK
        }, Unmanaged.passRetained(log).toOpaque())
    }
  }

  /// Starts a checkpoint if the log is long enough and none is running. To be called after a commit.
  func startIfDue() {
    guard log.pages.load(ordering: .relaxed) >= SQLiteLimit.logPages,
      !isRunning.exchange(true, ordering: .relaxed)
    else { return }
    Task {
      // After a failure the log is longer, and the next commit starts another checkpoint.
      try? await run()
      isRunning.store(false, ordering: .relaxed)
    }
  }

  private func run() async throws {
    for _ in 0..<Self.copiesMax {
      let copied = try await copying.writeWithoutTransaction {
        try $0.checkpoint(.passive).checkpointedFrameCount
      }
      if log.pages.load(ordering: .relaxed) - copied <= Self.pagesLeftMax { break }
    }
    try await pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
  }

  /// Closes the connection of its own. Without it, the hook keeps the length in memory.
  func close() throws {
    pool.writeWithoutTransaction { [log] db in
      guard sqlite3_wal_hook(db.sqliteConnection, nil, nil) != nil else { return }
      Unmanaged.passUnretained(log).release()
    }
    try copying.close()
  }

  private final class LogLength: Sendable {
    /// The pages at the last commit.
    let pages = Atomic<Int>(0)
  }
}
