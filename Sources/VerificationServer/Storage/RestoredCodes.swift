// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import World

/// The revocations that a restored code database takes over from the earlier one, which may be newer than the backup.
package struct RestoredCodes: Sendable {
  /// The number of API keys that were revoked after the backup.
  package let revokedKeys: Int
  /// The number of codes that were ended or redeemed after the backup, or were issued by what was revoked there.
  package let endedCodes: Int
  /// True if it is certain that the earlier database has continued after the backup.
  package let hasContinued: Bool

  /// Takes the revocations over from the database `earlier`: they are final, so they hold also if that database has not
  /// continued after the backup.
  ///
  /// Nothing else is taken over: keys and codes that are newer than the backup are lost.
  ///
  /// - Parameters:
  ///   - earlier: The file of the earlier database.
  ///   - restored: The file of the restored database.
  ///   - hasReplacedTokens: True if the tokens of the ProteGO Safe contract were replaced after the backup.
  ///   - now: The time of the restoration.
  /// - Returns: nil if `earlier` is the database of another server.
  package static func takeOver(
    from earlier: URL, by restored: URL, hasReplacedTokens: Bool, at now: Date
  ) throws(ServerDatabaseError) -> RestoredCodes? {
    try EarlierDatabase(earlier, schema: SQLiteCodeStorage.schema).withRestored(restored) {
      db, hasContinued in
      let (keys, ended) = (try revokeKeys(in: db), try endCodes(in: db))
      let issuers = keys.map(Optional.some) + (hasReplacedTokens ? [nil] : [])
      let unknown = try endUnknownCodes(of: issuers, at: now, in: db)
      return RestoredCodes(
        revokedKeys: keys.count, endedCodes: ended + unknown, hasContinued: hasContinued)
    }
  }

  /// - Returns: The ids of the keys that were valid in the backup.
  private static func revokeKeys(in db: Database) throws -> [String] {
    try String.fetchAll(
      db,
      sql: """
        UPDATE main.apiKey SET revokedAt = other.revokedAt
        FROM earlier.apiKey AS other
        WHERE apiKey.id = other.id AND apiKey.revokedAt IS NULL AND other.revokedAt IS NOT NULL
        RETURNING id
        """)
  }

  /// Ends the live codes of revoked issuers that the earlier database does not know. They were not there to be ended
  /// when the issuer was revoked, and a thief may have issued them.
  private static func endUnknownCodes(
    of issuers: [String?], at now: Date, in db: Database
  ) throws -> Int {
    var count = 0
    for issuer in issuers {
      let codes = IssueRow.filter(
        sql: """
          issue.issuer IS ? AND issue.binding IS NULL AND issue.endsAt >= ? AND NOT EXISTS (
            SELECT 1 FROM earlier.issue AS other WHERE other.id = issue.id
              AND other.issuedAt = issue.issuedAt AND other.handle IS issue.handle)
          """, arguments: [issuer, now.unixSecond])
      count += try SQLiteCodeStorage.expire(codes, at: now, in: db)
    }
    return count
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
