// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// The withdrawals that a restored key database takes over from the earlier one, which may be newer than the backup.
package struct RestoredRegistry: Sendable {
  /// The number of authority keys that were withdrawn, or whose validity was ended, after the backup.
  package let endedKeys: Int
  /// The number of authorities and apps that were removed after the backup.
  package let removed: Int

  /// Takes the withdrawals over from the database `earlier`, and the names and hashes that key files have had.
  ///
  /// Nothing else is taken over: uploads, authorities and apps that are newer than the backup are lost.
  ///
  /// - Returns: nil if `earlier` is missing or not of the same server.
  package static func takeOver(
    from earlier: URL, by restored: URL
  ) throws(ServerDatabaseError) -> RestoredRegistry? {
    try EarlierDatabase(earlier, schema: SQLiteSchema.schema).withRestored(restored) { db in
      try takeOverFiles(in: db)
      return RestoredRegistry(endedKeys: try endKeys(in: db), removed: try remove(in: db))
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

  private static func remove(in db: Database) throws -> Int {
    let isRemoved = "issuer NOT IN (SELECT issuer FROM earlier.authority)"
    try db.execute(
      sql: "DELETE FROM main.authority_key WHERE \(isRemoved) AND withdrawn_at IS NULL")
    try db.execute(sql: "DELETE FROM main.authority WHERE \(isRemoved)")
    let authorities = db.changesCount
    try db.execute(
      sql: """
        UPDATE main.authority SET sees_statistics = 0
        WHERE issuer IN (SELECT issuer FROM earlier.authority WHERE NOT sees_statistics);
        UPDATE main.authority SET jwks_url = NULL
        WHERE issuer IN (SELECT issuer FROM earlier.authority WHERE jwks_url IS NULL);
        DELETE FROM main.app_authority
        WHERE (app_id, issuer) NOT IN (SELECT app_id, issuer FROM earlier.app_authority);
        DELETE FROM main.app WHERE id NOT IN (SELECT id FROM earlier.app);
        """)
    return authorities + db.changesCount
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
