import GRDB

/// The keys of one region that were released before a period's end and are in no batch yet.
struct Waiting {
  let region: String
  /// Unix seconds.
  let end: Int64

  private static let condition = """
    batch_id IS NULL AND released_at < ? AND instr(',' || regions || ',', ',' || ? || ',') > 0
    """

  func count(in db: Database) throws -> Int {
    try Int.fetchOne(
      db, sql: "SELECT count(*) FROM diagnosis_key WHERE \(Self.condition)",
      arguments: [end, region]) ?? 0
  }

  /// The first `limit` of them.
  func keys(limit: Int, in db: Database) throws -> [StoredKey] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT \(StoredKey.columns) FROM diagnosis_key WHERE \(Self.condition)
        ORDER BY key_data LIMIT ?
        """,
      arguments: [end, region, limit]
    ).map(StoredKey.init(row:))
  }

  /// Assigns the first `count` of them.
  func assign(_ count: Int, to batch: Int64, in db: Database) throws {
    try db.execute(
      sql: """
        UPDATE diagnosis_key SET batch_id = ? WHERE key_data IN (
          SELECT key_data FROM diagnosis_key WHERE \(Self.condition) ORDER BY key_data LIMIT ?)
        """,
      arguments: [batch, end, region, count])
  }
}
