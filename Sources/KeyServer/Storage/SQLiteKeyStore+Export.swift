import ExposureKeys
import Foundation
import GRDB

extension SQLiteKeyStore {
  func closedUntil(export: String) async throws -> Date {
    try await pool.read { Date(timeIntervalSince1970: Double(try Self.closed(export, in: $0))) }
  }

  /// Fixes where the first periods of `exports` begin, where that has not been done before. Keys that
  /// came before there was any export are in its first file.
  static func begin(_ exports: [ExportConfiguration], at now: Date, in db: Database) throws {
    let isFirst = try Int.fetchOne(db, sql: "SELECT count(*) FROM export_progress") == 0
    for export in exports {
      try begin(export.filenameRoot, at: export.period.boundary(notAfter: now), in: db)
    }
    guard isFirst else { return }
    let start = try openFrom(in: db)
    try db.execute(
      sql: "UPDATE diagnosis_key SET released_at = ? WHERE released_at < ?",
      arguments: [start, start])
  }

  private static func begin(_ export: String, at start: Date, in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO export_progress (export, closed_until) VALUES (?, ?)
        ON CONFLICT (export) DO NOTHING
        """,
      arguments: [export, Int64(start.timeIntervalSince1970)])
  }

  /// The first moment that no export has closed: a key that comes in now is released then at the
  /// earliest, so that it is in the next file of every export and in no file that is closed.
  static func openFrom(in db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT max(closed_until) FROM export_progress")) ?? 0
  }

  func close(_ plan: ClosingPlan) async throws -> [Batch] {
    try await pool.write { db in
      let end = Int64(plan.end.timeIntervalSince1970)
      let due = try plan.periods.filter {
        try Self.closed($0.export.filenameRoot, in: db) < end
      }
      for period in due {
        try db.execute(
          sql: "UPDATE export_progress SET closed_until = ? WHERE export = ?",
          arguments: [end, period.export.filenameRoot])
      }
      let counts = try due.map { try PeriodKeys($0, until: end).releasedCount(in: db) }
      var isPadded = false
      for (period, count) in zip(due, counts) where count > 0 && count < period.minimumKeys {
        try Self.pad(period, until: end, bytes: plan.keyBytes, in: db)
        isPadded = true
      }
      return try zip(due, counts).flatMap { period, count in
        // Padding of one export may be of another too.
        let keys = PeriodKeys(period, until: end)
        return try Self.batches(
          of: period, until: end, releasedCount: isPadded ? keys.releasedCount(in: db) : count,
          in: db)
      }
    }
  }

  func batches() async throws -> [Batch] {
    try await pool.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM export_file ORDER BY end_at").map(Batch.init(row:))
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

  private static func closed(_ export: String, in db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db, sql: "SELECT closed_until FROM export_progress WHERE export = ?", arguments: [export])
      ?? 0
  }

  /// Adds padding keys shaped like the real ones, in turn, until the period has its minimum. They are
  /// rows like every other from here on, so that whoever reads the period again finds them too.
  private static func pad(
    _ period: ClosingPlan.Period, until end: Int64, bytes: () -> [UInt8], in db: Database
  ) throws {
    let window = PeriodKeys(period, until: end)
    let realCount = try window.releasedCount(in: db)
    let missing = period.minimumKeys - realCount
    guard realCount > 0, missing > 0 else { return }
    // In the period's last second: inside it, whatever the lengths of the periods that end here.
    let release = Date(timeIntervalSince1970: Double(end - 1))
    var shapes: [PublishableKey] = []
    try window.forEachReleased(in: db) { row in
      guard shapes.count < missing else { return }
      shapes.append(
        PublishableKey(
          key: try row.key(), regions: row.regions.split(separator: ",").map(String.init),
          travels: row.travels, releasedAt: release))
    }
    for number in 0..<missing {
      let shape = StoredKey(shapes[number % shapes.count])
      try insert(shape.padding(bytes()), in: db)
    }
  }

  /// The files of a period that is padded, each later one named a second later.
  private static func batches(
    of period: ClosingPlan.Period, until end: Int64, releasedCount: Int, in db: Database
  ) throws -> [Batch] {
    let window = PeriodKeys(period, until: end)
    let count = try releasedCount + window.revisedCount(in: db)
    guard count > 0 else { return [] }
    let cuts = ClosingPlan.cuts(of: count, atMost: period.export.maximumKeysPerFile)
    let firstKeys: [Data?] = [nil] + (try window.keys(at: Set(cuts), in: db))
    let batches = firstKeys.indices.map { number in
      Batch(
        export: period.export.filenameRoot, region: period.export.region, start: period.start,
        end: Date(timeIntervalSince1970: Double(end) + Double(number)),
        releasedBefore: Date(timeIntervalSince1970: Double(end)), filter: period.export.filter,
        firstKey: firstKeys[number],
        beforeKey: number + 1 < firstKeys.count ? firstKeys[number + 1] : nil)
    }
    for batch in batches { try batch.insert(in: db) }
    return batches
  }
}

extension PeriodKeys {
  init(_ period: ClosingPlan.Period, until end: Int64) {
    self.init(
      start: Int64(period.start.timeIntervalSince1970), end: end, filter: period.export.filter)
  }

  init(_ batch: Batch) {
    self.init(
      start: Int64(batch.start.timeIntervalSince1970),
      end: Int64(batch.releasedBefore.timeIntervalSince1970), filter: batch.filter,
      firstKey: batch.firstKey, beforeKey: batch.beforeKey)
  }
}
