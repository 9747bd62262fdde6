// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import World

/// The diagnosis keys of withdrawn files that were written after the backup. The restored server would publish them in
/// a new file, whose hash is not withdrawn.
enum WithdrawnFileKeys {
  /// Records the keys of the files with one of the hashes `withdrawn` that the earlier database has and the restored
  /// one does not, and removes them from the restored one.
  ///
  /// - Returns: The number of keys that were removed, or whose revision was.
  static func takeOver(_ withdrawn: Set<KeyFileHash>, in db: Database) throws -> Int {
    let known = Set(try SQLiteKeyStore.batches(in: db).map(Place.init))
    for batch in try SQLiteKeyStore.batches(in: db, of: EarlierDatabase.name)
    where !known.contains(Place(batch)) {
      guard batch.hashes.contains(where: { KeyFileHash($0).map(withdrawn.contains) ?? false })
      else { continue }
      try record(batch, in: db)
    }
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO main.withdrawn_file_key SELECT * FROM earlier.withdrawn_file_key
        """)
    return try remove(in: db)
  }

  private struct Place: Hashable {
    let export: String
    let start: Date
    let end: Date

    init(_ batch: Batch) { (export, start, end) = (batch.export, batch.start, batch.end) }
  }

  private static func record(_ batch: Batch, in db: Database) throws {
    var keys = PeriodKeys(batch.selection)
    keys.database = EarlierDatabase.name
    let insertion = try db.cachedStatement(
      sql: "INSERT OR IGNORE INTO main.withdrawn_file_key VALUES (?, ?, ?)")
    let end = batch.end.unixSecond
    try keys.forEachReleased(in: db) {
      try insertion.execute(arguments: [$0.keyData, false, end])
    }
    try keys.forEachRevised(in: db) { try insertion.execute(arguments: [$0.keyData, true, end]) }
  }

  private static func remove(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        DELETE FROM main.diagnosis_key WHERE key_data IN (
          SELECT key_data FROM main.withdrawn_file_key WHERE NOT is_revision)
        """)
    let removed = db.changesCount
    try db.execute(
      sql: """
        UPDATE main.diagnosis_key SET revised_report_type = NULL,
          revised_transmission_risk = NULL, revised_days_since_onset = NULL,
          revised_released_at = NULL, revision_checksum = NULL
        WHERE revised_released_at IS NOT NULL AND key_data IN (
          SELECT key_data FROM main.withdrawn_file_key WHERE is_revision)
        """)
    return removed + db.changesCount
  }
}
