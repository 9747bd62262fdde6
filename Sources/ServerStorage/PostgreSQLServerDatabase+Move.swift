// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import World

/// The end of a database whose data was moved elsewhere.
extension PostgreSQLServerDatabase {
  /// Runs `body`, which copies the data, in a transaction that excludes all changes. `body` calls its second argument
  /// before it commits the copy: the tables get into another schema, so that a server that runs nevertheless stores
  /// nothing in them any more.
  ///
  /// - Returns: The result of `body`, with the new schema.
  /// - Throws: `DatabaseMove.Failure.inUse`; `ServerDatabaseError`; the error of `body`.
  func moving(
    at now: Date,
    _ body:
      @escaping @Sendable (
        PostgreSQLTransaction, _ retire: () throws -> Void
      ) throws -> [String: Int]
  ) async throws -> DatabaseMove.Retired {
    try await transaction(seconds: PostgreSQLLimit.longRequestSeconds) { transaction in
      // The transaction is idle while the target inserts rows.
      try transaction.run("SET LOCAL idle_in_transaction_session_timeout = 0")
      try Self.excludeOthers(transaction)
      let schema = "moved_\(now.unixSecond)"
      let rows = try body(transaction) {
        let current = try transaction.run("SELECT quote_ident(current_schema())").text(0, 0)
        guard let current else { throw ServerDatabaseError.empty }
        try transaction.runOnce("ALTER SCHEMA \(current) RENAME TO \(schema)")
        try transaction.runOnce("CREATE SCHEMA \(current)")
      }
      return DatabaseMove.Retired(rows: rows, schema: schema)
    }
  }

  /// Locks all tables against changes, after no other session uses the database.
  private static func excludeOthers(_ transaction: PostgreSQLTransaction) throws {
    try requireNoSessions(transaction)
    let tables = try tableList(transaction)
    try transaction.runOnce("LOCK TABLE \(tables) IN EXCLUSIVE MODE")
  }

  /// The names of all tables in the current schema, in one order, for `LOCK TABLE`. Partitions are left out.
  ///
  /// - Parameter condition: A condition on `pg_class`.
  /// - Throws: `ServerDatabaseError.empty` if there are none.
  static func tableList(
    _ transaction: PostgreSQLTransaction, _ condition: String = "true"
  ) throws -> String {
    let tables = try transaction.run(
      """
      SELECT string_agg(oid::regclass::text, ', ' ORDER BY relname) FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition AND \(condition)
      """
    ).text(0, 0)
    guard let tables else { throw ServerDatabaseError.empty }
    return tables
  }

  /// Throws if another session uses the database. The server needs a moment until it notices that one has ended.
  static func requireNoSessions(_ transaction: PostgreSQLTransaction) throws {
    var sessions: Int64 = 0
    for _ in 0..<MoveLimit.sessionReads {
      sessions =
        try transaction.run(
          """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND application_name = current_setting('application_name')
          """
        ).firstInteger ?? 0
      guard sessions > 0 else { return }
      try transaction.run(
        "SELECT pg_stat_clear_snapshot()::text, pg_sleep($1::bigint / 1000.0)::text",
        .integer(MoveLimit.sessionReadMilliseconds))
    }
    throw DatabaseMove.Failure.inUse(sessions: Int(sessions))
  }
}

/// Limits of a move.
private enum MoveLimit {
  /// The number of times that sessions are counted until they count as servers.
  static let sessionReads = 10
  /// The time between two counts, in milliseconds.
  static let sessionReadMilliseconds: Int64 = 200
}
