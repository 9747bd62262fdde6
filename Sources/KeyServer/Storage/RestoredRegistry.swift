// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage

/// The withdrawals and removals that a restored key database takes over from an earlier one.
///
/// Withdrawals are taken over at once. What was removed is known only when all earlier databases were read, because one
/// that was restored since may have added it again: `remove(_:from:)`.
package struct RestoredRegistry: Sendable {
  /// True if it is certain that the earlier database has continued after the backup.
  package let hasContinued: Bool
  /// The number of authority keys that were withdrawn, or whose validity was ended.
  package let endedKeys: Int
  /// The number of diagnosis keys that are not published again: they were in withdrawn files of which the backup does
  /// not know.
  package let withdrawnFileKeys: Int
  /// The number of diagnosis keys that were revised or revoked.
  package let revisedKeys: Int
  /// The authorities and apps that were changed, apart from removals. They are as in the backup again. Empty if the
  /// database may be older than the backup.
  package let changed: [String]
  private let entries: Set<RegisterEntry>
  private let removals: [Data: RegisterEntry]

  /// Takes the withdrawals over from the database `earlier`, the revisions of keys that the backup has, and the names
  /// and hashes that key files have had.
  ///
  /// Nothing else is taken over: uploads, authorities, apps and keys that are newer than the backup are lost.
  ///
  /// - Parameters:
  ///   - earlier: The file of the earlier database.
  ///   - restored: The file of the restored database.
  ///   - withdrawn: The hashes of all files that phones ignore.
  /// - Returns: nil if `earlier` is the database of another server.
  package static func takeOver(
    from earlier: URL, by restored: URL, withdrawn: Set<KeyFileHash>
  ) throws(ServerDatabaseError) -> RestoredRegistry? {
    try EarlierDatabase(earlier, schema: SQLiteSchema.schema).withRestored(restored) {
      db, hasContinued in
      try takeOverFiles(in: db)
      return RestoredRegistry(
        hasContinued: hasContinued, endedKeys: try endKeys(in: db),
        withdrawnFileKeys: try WithdrawnFileKeys.takeOver(withdrawn, in: db),
        revisedKeys: try reviseKeys(in: db),
        changed: hasContinued ? try changed(in: db) : [],
        entries: try RegisterEntry.all(in: db, of: EarlierDatabase.name),
        removals: try RegisterEntry.removals(in: db, of: EarlierDatabase.name))
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

  /// A revision is final. Those in withdrawn files are not published again.
  private static func reviseKeys(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        UPDATE main.diagnosis_key SET revised_report_type = other.revised_report_type,
          revised_transmission_risk = other.revised_transmission_risk,
          revised_days_since_onset = other.revised_days_since_onset,
          revised_released_at = other.revised_released_at,
          revision_checksum = other.revision_checksum
        FROM earlier.diagnosis_key AS other
        WHERE diagnosis_key.key_data = other.key_data
          AND diagnosis_key.revised_released_at IS NULL AND other.revised_released_at IS NOT NULL
          AND other.key_data NOT IN (
            SELECT key_data FROM main.withdrawn_file_key WHERE is_revision)
        """)
    return db.changesCount
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
          ) WHERE \(name) IN (SELECT \(name) FROM earlier.\(table))
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

// MARK: - Removals

extension RestoredRegistry {
  /// The entries that were removed from the restored register.
  package struct Removed: Sendable {
    /// The number of keys of authorities.
    package fileprivate(set) var keys = 0
    /// The authorities and apps that were removed, and the apps that may not use an authority any more.
    package fileprivate(set) var names: Set<String> = []
  }

  /// Removes what was removed in one of the databases `earlier`, unless one that knows of the removal has it again.
  package static func remove(
    _ earlier: [RestoredRegistry], from restored: URL
  ) throws(ServerDatabaseError) -> Removed {
    do {
      let queue = try ServerDatabase.openConnection(restored, schema: SQLiteSchema.schema)
      let removed = try queue.write { db in
        try remove(unwanted(earlier, in: db), in: db)
      }
      try queue.close()
      return removed
    } catch let error as ServerDatabaseError {
      throw error
    } catch {
      throw .unavailable
    }
  }

  private static func remove(
    _ entries: Set<RegisterEntry>, in db: Database
  ) throws -> Removed {
    var removed = Removed()
    for entry in entries where try entry.remove(in: db) {
      if entry.kind == .authorityKey {
        removed.keys += 1
      } else {
        removed.names.insert(entry.subject)
      }
    }
    return removed
  }

  /// The entries that are to be removed. Records the removals of all earlier databases.
  private static func unwanted(
    _ earlier: [RestoredRegistry], in db: Database
  ) throws -> Set<RegisterEntry> {
    let known = try RegisterEntry.removals(in: db, of: "main")
    let own = try RegisterEntry.all(in: db, of: "main")
    var unwanted: Set<RegisterEntry> = []
    for (identity, entry) in earlier.flatMap(\.removals) where known[identity] == nil {
      try entry.record(identity, in: db)
      let isAddedAgain = earlier.contains {
        $0.removals[identity] != nil && $0.entries.contains(entry)
      }
      if !isAddedAgain { unwanted.insert(entry) }
    }
    // Earlier versions have recorded no removals.
    for register in earlier where register.hasContinued {
      unwanted.formUnion(own.subtracting(register.entries).subtracting(register.removals.values))
    }
    return unwanted
  }
}
