import ExposureKeys
import Foundation
import GRDB

extension SQLiteKeyStore {
  func closedUntil(region: String) async throws -> Date {
    try await pool.read { try Self.closedUntil(region: region, in: $0) }
  }

  /// Fixes where the first period of `region` begins, where that has not been done before.
  static func begin(_ region: String, at start: Date, in db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO export_progress (region, closed_until) VALUES (?, ?)
        ON CONFLICT (region) DO NOTHING
        """,
      arguments: [region, Int64(start.timeIntervalSince1970)])
  }

  func close(_ plan: BatchPlan) async throws -> [Batch] {
    try await pool.write { db in
      let end = Int64(plan.end.timeIntervalSince1970)
      guard try Self.closedUntil(region: plan.region, in: db) < plan.end else { return [] }
      try db.execute(
        sql: "UPDATE export_progress SET closed_until = ? WHERE region = ?",
        arguments: [end, plan.region])
      let waiting = Waiting(region: plan.region, end: end)
      let realCount = try waiting.count(in: db)
      guard realCount > 0 else { return [] }
      try Self.pad(waiting, to: plan.minimumKeys, realCount: realCount, plan: plan, in: db)
      return try Self.assign(waiting, plan: plan, in: db)
    }
  }

  func batches() async throws -> [Batch] {
    try await pool.read { db in
      try Row.fetchAll(db, sql: "SELECT id, region, start_at, end_at FROM batch ORDER BY end_at")
        .map(Batch.init(row:))
    }
  }

  func withKeys<Result: Sendable>(
    of batch: Batch, _ body: @escaping @Sendable (StoredKeys) throws -> Result
  ) async throws -> Result {
    try await pool.read { db in
      let rows = try Row.fetchCursor(
        db,
        sql: "SELECT \(StoredKey.columns) FROM diagnosis_key WHERE batch_id = ? ORDER BY key_data",
        arguments: [batch.id])
      return try body(
        StoredKeys {
          guard let row = try rows.next() else { return nil }
          guard let key = StoredKey(row: row).diagnosisKey else { throw DatabaseError.damaged }
          return key
        })
    }
  }

  private static func closedUntil(region: String, in db: Database) throws -> Date {
    let seconds = try Int64.fetchOne(
      db, sql: "SELECT closed_until FROM export_progress WHERE region = ?", arguments: [region])
    return seconds.map { Date(timeIntervalSince1970: Double($0)) } ?? .distantPast
  }

  /// Adds padding keys shaped like the real ones, in turn, until there are `minimum`.
  private static func pad(
    _ waiting: Waiting, to minimum: Int, realCount: Int, plan: BatchPlan, in db: Database
  ) throws {
    let missing = minimum - realCount
    guard missing > 0 else { return }
    let shapes = try waiting.keys(limit: missing, in: db)
    for number in 0..<missing {
      try insert(shapes[number % shapes.count].padding(plan.keyBytes()), in: db)
    }
  }

  /// Gives the waiting keys to files in the order of their bytes, which tells nothing about them.
  private static func assign(
    _ waiting: Waiting, plan: BatchPlan, in db: Database
  ) throws -> [Batch] {
    let count = try waiting.count(in: db)
    return try plan.files(forKeys: count).map { file in
      let (start, end) = (
        Int64(file.start.timeIntervalSince1970), Int64(file.end.timeIntervalSince1970)
      )
      try db.execute(
        sql: "INSERT INTO batch (region, start_at, end_at) VALUES (?, ?, ?)",
        arguments: [plan.region, start, end])
      let batch = Batch(
        id: db.lastInsertedRowID, region: plan.region, start: file.start, end: file.end)
      try waiting.assign(file.keyCount, to: batch.id, in: db)
      return batch
    }
  }
}

extension DatabaseError {
  /// A row that the table's checks should have kept out.
  fileprivate static let damaged = DatabaseError(resultCode: .SQLITE_CORRUPT)
}

extension Batch {
  init(row: Row) {
    self.init(
      id: row["id"], region: row["region"],
      start: Date(timeIntervalSince1970: row["start_at"]),
      end: Date(timeIntervalSince1970: row["end_at"]))
  }
}
