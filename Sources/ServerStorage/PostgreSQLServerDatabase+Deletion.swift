// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

/// The deletion of all data of a server.
extension PostgreSQLServerDatabase {
  /// The names and sizes in bytes of all tables of the database, also of those that moves have put into other schemas.
  ///
  /// - Throws: `ServerDatabaseError`; `.empty` if there are no tables and there must be some.
  package func tablesWithLeftovers() async throws -> [(name: String, bytes: Int)] {
    try await inspecting { [self] transaction in
      guard try hasTables(transaction) else { return [] }
      _ = try isClaimed(transaction)
      let rows = try transaction.run(
        """
        SELECT format('%I.%I', nspname, relname), pg_total_relation_size(c.oid)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relkind = 'r' AND (nspname = current_schema() OR nspname LIKE 'moved\\_%')
        ORDER BY nspname, relname
        """)
      return rows.indices.map { (rows.text($0, 0) ?? "", Int(rows.integer($0, 1) ?? 0)) }
    }
  }

  /// Throws if another session uses the database.
  ///
  /// - Throws: `DatabaseMove.Failure.inUse`; `ServerDatabaseError`
  package func requireUnused() async throws {
    try await inspecting { try Self.requireNoSessions($0) }
  }

  /// Deletes all tables, also those that moves have put into other schemas. No other session may use the database.
  ///
  /// - Throws: `DatabaseMove.Failure.inUse`; `ServerDatabaseError`
  package func deleteTables() async throws {
    try await transaction(seconds: PostgreSQLLimit.longRequestSeconds) { transaction in
      try Self.requireNoSessions(transaction)
      let moved = try transaction.run(
        #"SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname LIKE 'moved\_%'"#)
      for row in moved.indices {
        guard let schema = moved.text(row, 0) else { continue }
        try transaction.runOnce("DROP SCHEMA \(schema) CASCADE")
      }
      guard
        let current = try transaction.run("SELECT quote_ident(current_schema())").text(0, 0)
      else { throw ServerDatabaseError.empty }
      try transaction.runOnce("DROP SCHEMA \(current) CASCADE")
      try transaction.runOnce("CREATE SCHEMA \(current)")
    }
  }
}
