// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage

/// The revocations that a restored code database takes over from the earlier one, which may be newer than the backup.
package struct RestoredCodes: Sendable {
  /// The number of API keys that were revoked after the backup.
  package let revokedKeys: Int
  /// The number of codes that were ended or redeemed after the backup.
  package let endedCodes: Int
  /// True if it is certain that the earlier database has continued after the backup.
  package let hasContinued: Bool

  /// Takes the revocations over from the database `earlier`: they are final, so they hold also if that database has not
  /// continued after the backup.
  ///
  /// Nothing else is taken over: keys and codes that are newer than the backup are lost.
  ///
  /// - Returns: nil if `earlier` is the database of another server.
  package static func takeOver(
    from earlier: URL, by restored: URL
  ) throws(ServerDatabaseError) -> RestoredCodes? {
    try EarlierDatabase(earlier, schema: SQLiteCodeStorage.schema).withRestored(restored) {
      db, hasContinued in
      RestoredCodes(
        revokedKeys: try revokeKeys(in: db), endedCodes: try endCodes(in: db),
        hasContinued: hasContinued)
    }
  }

  private static func revokeKeys(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        UPDATE main.apiKey SET revokedAt = other.revokedAt
        FROM earlier.apiKey AS other
        WHERE apiKey.id = other.id AND apiKey.revokedAt IS NULL AND other.revokedAt IS NOT NULL
        """)
    return db.changesCount
  }

  /// Copies the rows of ended and redeemed codes with their checksums, and the exchanges of their tokens.
  private static func endCodes(in db: Database) throws -> Int {
    try db.execute(
      sql: """
        CREATE TEMP TABLE ended AS SELECT other.id
        FROM earlier.issue AS other JOIN main.issue AS restored ON restored.id = other.id
        WHERE other.issuedAt = restored.issuedAt AND other.handle IS restored.handle
          AND restored.binding IS NULL
          AND (other.binding IS NOT NULL OR other.expiresAt < restored.expiresAt
            OR other.longExpiresAt < restored.longExpiresAt);
        DELETE FROM main.codeHash WHERE issue IN (SELECT id FROM ended);
        DELETE FROM main.issue WHERE id IN (SELECT id FROM ended);
        INSERT INTO main.issue SELECT * FROM earlier.issue WHERE id IN (SELECT id FROM ended);
        INSERT OR IGNORE INTO main.codeHash
          SELECT * FROM earlier.codeHash WHERE issue IN (SELECT id FROM ended);
        INSERT OR IGNORE INTO main.exchange SELECT * FROM earlier.exchange;
        """)
    return try Int.fetchOne(db, sql: "SELECT count(*) FROM ended") ?? 0
  }
}
