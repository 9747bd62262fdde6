// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// The withdrawals that a restored key database takes over from the earlier one, which may be newer than the backup.
package struct RestoredRegistry: Sendable {
  /// The number of authority keys that were withdrawn, or whose validity was ended, after the backup.
  package let endedKeys: Int
  /// The authorities and apps of the backup that were removed or changed after it. They are as in the backup again.
  package let changed: [String]

  /// Takes the withdrawals over from the database `earlier`, and the names and hashes that key files have had.
  ///
  /// Nothing else is taken over: uploads, authorities and apps that are newer than the backup are lost.
  ///
  /// - Returns: nil if it is not certain that `earlier` has continued after the backup.
  package static func takeOver(
    from earlier: URL, by restored: URL
  ) throws(ServerDatabaseError) -> RestoredRegistry? {
    try EarlierDatabase(earlier, schema: SQLiteSchema.schema).withRestored(restored) { db in
      try takeOverFiles(in: db)
      return RestoredRegistry(endedKeys: try endKeys(in: db), changed: try changed(in: db))
    }
  }

  /// Rows of withdrawn keys are copied also if the backup has no such key: they keep it from being added.
  private static func endKeys(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO main.authority_key
        SELECT other.* FROM earlier.authority_key AS other
        LEFT JOIN main.authority_key AS restored USING (issuer, key_id)
        WHERE other.withdrawn_at IS NOT NULL AND restored.withdrawn_at IS NULL
          OR other.good_until < coalesce(restored.good_until, other.good_until + 1)
            AND restored.key_id IS NOT NULL AND restored.withdrawn_at IS NULL
        """)
    return db.changesCount
  }

  private static func changed(in db: Database) throws -> [String] {
    let parts = [
      ("authority", "issuer", "issuer, audience, jwks_url, sees_statistics"),
      ("app", "id", "id, regions"), ("app_authority", "app_id", "app_id, issuer"),
    ]
    let names = try parts.flatMap { table, name, columns in
      try String.fetchAll(
        db,
        sql: """
          SELECT \(name) FROM (
            SELECT \(columns) FROM main.\(table) EXCEPT SELECT \(columns) FROM earlier.\(table)
          )
          """)
    }
    return Set(names).sorted()
  }

  /// A file that was written again after the backup keeps the hashes that it had, by which it may have been withdrawn,
  /// and does not get one of its names again.
  private static func takeOverFiles(in db: Database) throws {
    try db.execute(
      sql: """
        UPDATE main.export_file SET edition = other.edition,
          earlier_sha256 = CAST(coalesce(other.earlier_sha256, x'')
            || iif(other.sha256 IS export_file.sha256, x'', coalesce(other.sha256, x'')) AS BLOB)
        FROM earlier.export_file AS other
        WHERE export_file.export = other.export AND export_file.start_at = other.start_at
          AND export_file.end_at = other.end_at AND export_file.edition <= other.edition
        """)
  }
}
