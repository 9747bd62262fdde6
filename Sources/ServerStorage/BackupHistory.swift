// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The identities of the backups that were made of a database. Each backup has a new identity, which the database and
/// the copy in the backup get. So only a database that has the identity of a backup has continued after it: not one
/// from before, and not one that was restored from another backup.
enum BackupHistory {
  /// The length of an identity, in bytes.
  static let identityBytes = 16

  /// Adds the identity of a backup.
  static func add(_ identity: Data, in db: Database) throws {
    // No migration, which a database that a running server of another version has open must not get.
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS backup_history (
          number INTEGER NOT NULL PRIMARY KEY,
          identity BLOB NOT NULL UNIQUE
        ) STRICT
        """)
    try db.execute(
      sql: "INSERT OR IGNORE INTO backup_history (identity) VALUES (?)", arguments: [identity])
  }

  /// The identities of the backups of the database that is attached as `name`, the newest last.
  static func identities(in db: Database, _ name: String = "main") throws -> [Data] {
    guard try db.tableExists("backup_history", in: name) else { return [] }
    return try Data.fetchAll(
      db, sql: "SELECT identity FROM \(name).backup_history ORDER BY number")
  }
}
