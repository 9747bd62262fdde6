// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import SharedBudgets
import World

extension PostgreSQLCodeStorage {
  func withdraw(_ handle: UUID, externalIssuer: String?) async throws {
    try await write { transaction in
      guard let issue = try Self.issue(of: handle, "FOR UPDATE", transaction) else { return }
      if let phone = issue.phoneHash {
        try transaction.run(
          "DELETE FROM \(PostgreSQLCodeSchema.reports.name) WHERE \"phoneHash\" = $1", .bytes(phone)
        )
      }
      try transaction.run("DELETE FROM issue WHERE id = $1", .integer(issue.id))
      try Self.changeCounts(at: issue.issuedAt, transaction) { $0.countIssued(-1) }
      try Self.count(
        -1, issuer: issue.issuer, externalIssuer: externalIssuer, at: issue.issuedAt, transaction)
    }
  }

  func freePhone(_ phoneHash: Data, at now: Date) async throws -> Bool {
    try await write { transaction in
      let second = now.unixSecond
      // The codes first, as `redeem(_:as:at:)` locks them.
      let live = try PostgreSQLCodeSchema.issues.intactRows(
        """
        WHERE "endsAt" >= $1 AND binding IS NULL AND "phoneHash" = $2 ORDER BY id FOR UPDATE
        """, .integer(second), .bytes(phoneHash), in: transaction
      ).filter { max($0.expiresAt, $0.longExpiresAt) >= second }
      for issue in live {
        _ = try Self.expire(issue, at: now, skipsDamaged: true, transaction)
      }
      // A row that is deleted again lets the transaction write in both cases.
      let hasReported = try Self.storedReport(of: phoneHash, transaction) != nil
      if !hasReported {
        let report = ReportRow(PhoneReport(phoneHash: phoneHash, at: now))
        try PostgreSQLCodeSchema.reports.insert(report, in: transaction)
      }
      try transaction.run(
        "DELETE FROM \(PostgreSQLCodeSchema.reports.name) WHERE \"phoneHash\" = $1",
        .bytes(phoneHash))
      return hasReported || !live.isEmpty
    }
  }

  /// Damaged exchanges stay: without its row, a token that is still valid could be exchanged again.
  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int {
    try await write { transaction in
      let end = moment.unixSecond
      let tokens = try PostgreSQLCodeSchema.exchanges.intactRows(
        "WHERE \"expiresAt\" < $1 LIMIT $2", .integer(end), .integer(count), in: transaction)
      let oldest = CodeCounts.day(of: end) - Int64(VerificationLimit.countedDays)
      let rows = try transaction.run([
        PostgreSQLStatement(
          "DELETE FROM \(PostgreSQLCodeSchema.exchanges.name) WHERE \"tokenIDHash\" = ANY ($1)",
          .byteStrings(tokens.map(\.tokenIDHash))),
        PostgreSQLStatement(
          "DELETE FROM issue WHERE id IN (SELECT id FROM issue WHERE \"endsAt\" < $1 LIMIT $2)",
          .integer(end), .integer(count)),
        PostgreSQLStatement(
          """
          DELETE FROM report WHERE "phoneHash" IN (
            SELECT "phoneHash" FROM report WHERE "freeAt" < $1 LIMIT $2)
          """, .integer(end), .integer(count)),
        PostgreSQLStatement(
          "DELETE FROM \(PostgreSQLCodeSchema.counts.name) WHERE day < $1", .integer(oldest)),
        PostgreSQLStatement(
          "DELETE FROM \(PostgreSQLCodeSchema.attemptCounts.name) WHERE day < $1",
          .integer(oldest)),
        PostgreSQLStatement(
          """
          DELETE FROM \(PostgreSQLCodeSchema.issuerCounts.name) WHERE day < $1 OR day < $2 AND issued < $3
          """, .integer(oldest), .integer(CodeCounts.day(of: end)),
          .integer(VerificationLimit.issuerCountMultiple)),
        // A process that was away for longer, with a batch of unknown outcome, may count it twice.
        PostgreSQLStatement(
          #"DELETE FROM "attemptBatch" WHERE "storedAt" < now() - interval '7 days'"#),
        PostgreSQLCounters.removal,
      ])
      return rows.dropLast(5).reduce(0) { $0 + $1.changedCount }
    }
  }
}
