import ExposureKeys
import Foundation
import GRDB

extension SQLiteKeyStore {
  func exportProgress() async throws -> ExportProgress {
    try await pool.read { try Self.progress(in: $0) }
  }

  private static func progress(in db: Database) throws -> ExportProgress {
    var progress = ExportProgress()
    for row in try Row.fetchAll(db, sql: "SELECT export, closed_until FROM period_progress") {
      progress.closedUntil[row["export"]] = Date(timeIntervalSince1970: row["closed_until"])
    }
    return progress
  }

  /// Fixes where the first periods of `exports` begin, where that has not been done before. Keys that
  /// came before there was any export are in its first file.
  static func begin(_ exports: [ExportConfiguration], at now: Date, in db: Database) throws {
    let earlier = try progress(in: db)
    var begun = earlier
    begun.begin(exports, at: now)
    for (export, end) in begun.closedUntil where earlier.closedUntil[export] == nil {
      try set(export, to: end, in: db)
    }
    guard earlier.closedUntil.isEmpty else { return }
    try WaitingKeys(db: db).sortIn()
    try db.execute(
      sql: "UPDATE diagnosis_key SET released_at = $start WHERE released_at < $start",
      arguments: ["start": begun.openFrom.wholeSeconds])
  }

  private static func set(_ export: String, to end: Date, in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO period_progress (export, closed_until) VALUES (?, ?)
        ON CONFLICT (export) DO UPDATE SET closed_until = excluded.closed_until
        """, arguments: [export, end.wholeSeconds])
  }

  /// `ExportProgress.openFrom`, without reading the whole of it for every upload.
  static func openFrom(in db: Database) throws -> Date {
    Date(
      timeIntervalSince1970: try Double.fetchOne(
        db.cachedStatement(sql: "SELECT max(closed_until) FROM period_progress")) ?? 0)
  }

  func close(_ plan: ClosingPlan) async throws -> [Batch] {
    try await pool.write { db in
      try db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiBWhileClosing)")
      // SQLite takes the size as it compiles the statement: also where GRDB runs none any more, as after a rollback on
      // a full disk.
      defer { try? db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiB)") }
      try WaitingKeys(db: db).sortIn()
      let due = plan.due(after: try Self.progress(in: db))
      for period in due { try Self.set(period.export.filenameRoot, to: plan.end, in: db) }
      let windows = due.map { PeriodKeys($0, until: plan.end) }
      var counts = try PeriodKeys.releasedCounts(of: windows, in: db)
      let padding = try plan.padding(of: due, counts: &counts) { period, count in
        try PeriodKeys(period, until: plan.end).released(atMost: count, in: db)
      }
      try add(padding.map { StoredKey($0, isPadding: true) }, in: db)
      return try zip(zip(due, windows), counts).flatMap { due, released in
        let (period, window) = due
        let count = try released + window.revisedCount(in: db)
        guard count > 0 else { return [Batch]() }
        let cuts = ClosingPlan.cuts(of: count, atMost: period.export.maximumKeysPerFile)
        let batches = plan.batches(
          of: period, laterKeys: try window.keys(at: Set(cuts), in: db))
        for batch in batches { try BatchRow(batch).insert(in: db) }
        return batches
      }
    }
  }

  /// Adds padding to the table, and a number to those that uploads take: a padding key that comes again is to be known
  /// like any other, here and in every process, or it would not be told from a real one for long.
  private func add(_ padding: [StoredKey], in db: Database) throws {
    guard !padding.isEmpty else { return }
    let waiting = WaitingKeys(db: db)
    let earlier = try waiting.latestNumber()
    known.added(padding, as: try waiting.add(padding), after: earlier)
    try waiting.sortIn()
  }

  func batches() async throws -> [Batch] {
    try await pool.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM export_file ORDER BY end_at, export").map {
        try BatchRow(row: $0).batch
      }
    }
  }

  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result {
    try await pool.read { db in
      let window = PeriodKeys(batch)
      return try body(
        BatchKeys { each in
          try window.forEachReleased(in: db) { try each($0.key(), false) }
          try window.forEachRevised(in: db) { try each($0.key(), true) }
        })
    }
  }
}

extension PeriodKeys {
  fileprivate init(_ period: ClosingPlan.Period, until end: Date) {
    self.init(start: period.start.wholeSeconds, end: end.wholeSeconds, filter: period.export.filter)
  }

  fileprivate init(_ batch: Batch) {
    self.init(
      start: batch.start.wholeSeconds, end: batch.releasedBefore.wholeSeconds,
      filter: batch.filter, firstKey: batch.firstKey, beforeKey: batch.beforeKey)
  }
}
