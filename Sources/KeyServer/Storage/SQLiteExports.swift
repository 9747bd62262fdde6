// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import GRDB
import Secrets
import ServerStorage
import World

extension SQLiteKeyStore {
  func exportProgress() async throws -> ExportProgress {
    try await database.read { try Self.progress(in: $0) }
  }

  fileprivate static func progress(in db: Database) throws -> ExportProgress {
    var progress = ExportProgress()
    for row in try Row.fetchAll(db, sql: "SELECT export, closed_until FROM period_progress") {
      progress.closedUntil[row["export"]] = Date(timeIntervalSince1970: row["closed_until"])
    }
    return progress
  }

  /// Stores the start of the first period of each new one of `exports`. The first export of a database also gets the
  /// keys that were uploaded before it.
  static func begin(_ exports: [ExportConfiguration], at now: Date, in db: Database) throws {
    let earlier = try progress(in: db)
    var begun = earlier
    begun.begin(exports, at: now)
    for (export, end) in begun.closedUntil where earlier.closedUntil[export] == nil {
      try set(export, to: end, in: db)
    }
    guard earlier.closedUntil.isEmpty else { return }
    try db.execute(
      sql: "UPDATE diagnosis_key SET released_at = $start WHERE released_at < $start",
      arguments: ["start": begun.openFrom.unixSecond])
    if db.changesCount > 0 { try renewChecksums(in: db) }
  }

  fileprivate static func set(_ export: String, to end: Date, in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO period_progress (export, closed_until) VALUES (?, ?)
        ON CONFLICT (export) DO UPDATE SET closed_until = excluded.closed_until
        """, arguments: [export, end.unixSecond])
  }

  /// `ExportProgress.openFrom`, as one query for every commit.
  static func openFrom(in db: Database) throws -> Date {
    Date(
      timeIntervalSince1970: try Double.fetchOne(
        db.cachedStatement(sql: "SELECT max(closed_until) FROM period_progress")) ?? 0)
  }

  func closing<Result: Sendable>(
    _ body: @escaping @Sendable (any ClosingRows) throws -> Result
  ) async throws -> Result {
    try await write { db in
      try db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiBWhileClosing)")
      // SQLite applies the size when it compiles the statement, so this works even if GRDB refuses to run it after
      // a rollback on a full disk.
      defer { try? db.execute(sql: "PRAGMA cache_size = -\(SQLiteLimit.cacheKiB)") }
      return try body(SQLiteClosingRows(db: db))
    }
  }

  func batches() async throws -> [Batch] {
    try await database.read { try Self.batches(in: $0) }
  }

  /// The batches of the database that is attached as `name`.
  static func batches(in db: Database, of name: String = "main") throws -> [Batch] {
    try Row.fetchAll(db, sql: "SELECT * FROM \(name).export_file ORDER BY end_at, export").map {
      try BatchRow(row: $0).batch
    }
  }

  func written(_ batch: Batch, sha256: Data, paddingCount: Int, at now: Date) async throws {
    try await write { db in
      try db.execute(
        sql: """
          UPDATE export_file
          SET earlier_sha256 =
              CAST(coalesce(earlier_sha256, x'') || coalesce(sha256, x'') AS BLOB),
            sha256 = ?, padding = ?, edition = ?, written_at = coalesce(written_at, ?)
          WHERE export = ? AND start_at = ? AND end_at = ?
          """,
        arguments: [
          sha256, paddingCount, batch.edition, now.unixSecond, batch.export,
          batch.start.unixSecond, batch.end.unixSecond,
        ])
    }
  }

  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (BatchKeys) throws -> Result
  ) async throws -> Result {
    try await database.read { db in
      var keys = PeriodKeys(batch.selection)
      keys.skippedRows = skippedRows
      return try body(
        BatchKeys { handle in
          try keys.forEachReleased(in: db) {
            try handle($0.key(), $0.isPadding ? .padding : .uploaded)
          }
          try keys.forEachRevised(in: db) { try handle($0.key(), .revised) }
        })
    }
  }
}

/// The rows of a transaction that closes periods.
private struct SQLiteClosingRows: ClosingRows {
  let db: Database

  func progress() throws -> ExportProgress { try SQLiteKeyStore.progress(in: db) }

  func setClosed(_ root: String, until end: Date) throws {
    try SQLiteKeyStore.set(root, to: end, in: db)
  }

  func releasedCounts(of selections: [CountedSelection]) throws -> [Int] {
    try PeriodKeys.releasedCounts(
      of: selections.map {
        CountedPeriod(keys: PeriodKeys($0.selection), indifferent: $0.indifferent)
      }, in: db)
  }

  func revisedCount(in selection: KeySelection) throws -> Int {
    try PeriodKeys(selection).revisedCount(in: db)
  }

  func released(in selection: KeySelection, atMost count: Int) throws -> [PublishableKey] {
    try PeriodKeys(selection).released(atMost: count, in: db)
  }

  func keys(at positions: Set<Int>, in selection: KeySelection) throws -> [Data] {
    try PeriodKeys(selection).keys(at: positions, in: db)
  }

  func insert(_ padding: [PublishableKey]) throws { try KeyInsertion(in: db).insert(padding) }

  func insert(_ batches: [Batch]) throws {
    for batch in batches { try BatchRow(batch).insert(in: db) }
  }
}

/// A row of `export_file`. Times are in Unix seconds; regions are comma-separated and sorted.
private struct BatchRow {
  var export: String
  var region: String
  var start: Int64
  var end: Int64
  var releasedBefore: Int64
  var inputRegions: String
  var excludedRegions: String
  var travellers: String
  var firstKey: Data?
  var beforeKey: Data?
  var sha256: Data?
  var earlierSHA256 = Data()
  var writtenAt: Int64?
  var paddingCount = 0
  var edition = 1

  init(_ batch: Batch) {
    export = batch.export
    region = batch.region
    start = batch.start.unixSecond
    end = batch.end.unixSecond
    releasedBefore = batch.selection.end.unixSecond
    inputRegions = Self.text(batch.selection.filter.inputRegions)
    excludedRegions = Self.text(batch.selection.filter.excludedRegions)
    travellers = batch.selection.filter.travellers.rawValue
    firstKey = batch.selection.firstKey
    beforeKey = batch.selection.beforeKey
  }

  init(row: Row) {
    export = row["export"]
    region = row["region"]
    start = row["start_at"]
    end = row["end_at"]
    releasedBefore = row["released_before"]
    inputRegions = row["input_regions"]
    excludedRegions = row["excluded_regions"]
    travellers = row["travellers"]
    firstKey = row["first_key"]
    beforeKey = row["before_key"]
    sha256 = row["sha256"]
    earlierSHA256 = row["earlier_sha256"] ?? Data()
    writtenAt = row["written_at"]
    paddingCount = row["padding"]
    edition = row["edition"]
  }

  /// The batch of the row.
  ///
  /// - Throws: `DatabaseError` if the value of `travellers` is unknown to this version.
  var batch: Batch {
    get throws {
      guard let travellers = ExportConfiguration.Travellers(rawValue: travellers) else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
      }
      let filter = KeyFilter(
        inputRegions: Self.regions(inputRegions), excludedRegions: Self.regions(excludedRegions),
        travellers: travellers)
      return Batch(
        export: export, region: region, end: Date(unixSecond: end),
        selection: KeySelection(
          start: Date(unixSecond: start), end: Date(unixSecond: releasedBefore), filter: filter,
          firstKey: firstKey, beforeKey: beforeKey),
        sha256: sha256,
        earlierHashes: Self.hashes(earlierSHA256),
        writtenAt: writtenAt.map { Date(unixSecond: $0) },
        paddingCount: paddingCount, edition: edition)
    }
  }

  private static func hashes(_ bytes: Data) -> [Data] {
    stride(from: bytes.startIndex, to: bytes.endIndex, by: SHA256.byteCount).map {
      Data(bytes[$0...].prefix(SHA256.byteCount))
    }
  }

  func insert(in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO export_file (export, region, start_at, end_at, released_before, input_regions,
          excluded_regions, travellers, first_key, before_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        export, region, start, end, releasedBefore, inputRegions, excludedRegions, travellers,
        firstKey, beforeKey,
      ])
  }

  private static func regions(_ text: String) -> Set<String> {
    Set(text.split(separator: ",").map(String.init))
  }

  private static func text(_ regions: Set<String>) -> String {
    regions.sorted().joined(separator: ",")
  }
}

extension BatchRow: Redacted {
  /// Without the range, which consists of two keys.
  var description: String { "BatchRow(\(export)/\(start)-\(end))" }
}
