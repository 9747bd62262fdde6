import Foundation
import GRDB

extension SQLiteKeyStore {
  func revisionKeys() async throws -> [SealedRevisionKey] {
    try await pool.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM revision_key ORDER BY effective_from, key_id").map {
        SealedRevisionKey(
          id: $0["key_id"], sealed: $0["sealed"],
          effectiveFrom: Date(timeIntervalSince1970: $0["effective_from"]))
      }
    }
  }

  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws {
    try await pool.write { db in
      try db.execute(
        sql: "INSERT INTO revision_key (key_id, sealed, effective_from) VALUES (?, ?, ?)",
        arguments: [key.id, key.sealed, key.effectiveFrom.wholeSeconds])
      for id in ids {
        try db.execute(sql: "DELETE FROM revision_key WHERE key_id = ?", arguments: [id])
      }
    }
  }

  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount] {
    try await pool.read { db in
      try Row.fetchAll(
        db, sql: "SELECT hour, kind, bucket, count FROM statistic WHERE issuer = ? AND hour >= ?",
        arguments: [issuer, start]
      ).compactMap { row in
        StatisticKind(rawValue: row["kind"]).map { kind in
          StatisticCount(
            place: .init(hour: row["hour"], issuer: issuer, kind: kind, bucket: row["bucket"]),
            count: row["count"])
        }
      }
    }
  }
}
