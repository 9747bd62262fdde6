// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// The withdrawals and removals that a restored key database takes over from the earlier one, if that has continued
/// after the backup: what it does not have was removed there.
package struct RestoredRegistry: Sendable {
  /// The number of authority keys that were withdrawn, removed or replaced, or whose validity was ended.
  package let endedKeys: Int
  /// The authorities and apps that were removed.
  package let removed: [String]
  /// The authorities and apps that were changed, apart from removals. They are as in the backup again.
  package let changed: [String]

  /// Takes the withdrawals and removals over from the database `earlier`, and the names and hashes that key files have
  /// had.
  ///
  /// Nothing else is taken over: uploads, authorities, apps and keys that are newer than the backup are lost.
  ///
  /// - Returns: nil if it is not certain that `earlier` has continued after the backup.
  package static func takeOver(
    from earlier: URL, by restored: URL
  ) throws(ServerDatabaseError) -> RestoredRegistry? {
    try EarlierDatabase(earlier, schema: SQLiteSchema.schema).withRestored(restored) { db in
      try takeOverFiles(in: db)
      return RestoredRegistry(
        endedKeys: try endKeys(in: db) + removeKeys(in: db), removed: try remove(in: db),
        changed: try changed(in: db))
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
            AND restored.public_key = other.public_key AND restored.withdrawn_at IS NULL
        """)
    return db.changesCount
  }

  /// Another key may have got the id of a removed one.
  private static func removeKeys(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        DELETE FROM main.authority_key WHERE withdrawn_at IS NULL
          AND (issuer, key_id, public_key) NOT IN (
            SELECT issuer, key_id, public_key FROM earlier.authority_key)
        """)
    return db.changesCount
  }

  /// Removes the authorities and apps, and the permissions of apps for authorities, that the earlier database lacks.
  private static func remove(in db: Database) throws -> [String] {
    var removed: Set<String> = []
    for (table, key) in [
      ("app_authority", "app_id, issuer"), ("app", "id"), ("authority", "issuer"),
    ] {
      removed.formUnion(
        try String.fetchAll(
          db,
          sql: """
            DELETE FROM main.\(table) WHERE (\(key)) NOT IN (SELECT \(key) FROM earlier.\(table))
            RETURNING \(key)
            """))
    }
    return removed.sorted()
  }

  private static func changed(in db: Database) throws -> [String] {
    let parts = [
      ("authority", "issuer", "issuer, audience, jwks_url, sees_statistics"),
      ("app", "id", "id, regions"),
    ]
    var names = try parts.flatMap { table, name, columns in
      try String.fetchAll(
        db,
        sql: """
          SELECT \(name) FROM (
            SELECT \(columns) FROM main.\(table) EXCEPT SELECT \(columns) FROM earlier.\(table)
          )
          """)
    }
    names += try String.fetchAll(
      db,
      sql: """
        SELECT issuer FROM earlier.authority_key AS other JOIN main.authority USING (issuer)
        WHERE withdrawn_at IS NULL AND NOT is_pulled AND NOT EXISTS (
          SELECT 1 FROM main.authority_key AS restored
          WHERE restored.issuer = other.issuer AND restored.public_key = other.public_key)
        """)
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
