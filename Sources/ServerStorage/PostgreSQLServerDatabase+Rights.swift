// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

/// Reading without a migration, and migrations for servers whose role may not create tables.
extension PostgreSQLServerDatabase {
  /// The result of `migrate(grantingTo:)`.
  package struct Migration: Hashable, Sendable {
    /// The number of migrations before; 0 for an empty database.
    package let earlierVersion: Int
    /// The number of migrations.
    package let version: Int
    /// False if the role owns the tables, or does not exist.
    package let isGranted: Bool
  }

  /// Runs `body` in a snapshot of the database, without a migration.
  ///
  /// - Parameter mayBeStandby: True if the address may lead to a standby, which may be behind and has other sessions.
  /// - Throws: `ServerDatabaseError`; the error of `body`.
  func inspecting<Value: Sendable>(
    mayBeStandby: Bool = false,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    if !mayBeStandby { database.requirePrimary() }
    return try await mappingErrors {
      try await database.transaction(.snapshot, seconds: PostgreSQLLimit.longRequestSeconds, body)
    }
  }

  /// True if the server, which may be a standby, has the role.
  package func hasRole(_ role: String) async throws -> Bool {
    try await inspecting(mayBeStandby: true) { transaction in
      try transaction.run("SELECT FROM pg_roles WHERE rolname = $1", .text(role)).count > 0
    }
  }

  /// True if a move has put the tables of the server into another schema.
  package func hasRetiredTables() async throws -> Bool { try await !retiredSchemas().isEmpty }

  /// The names of the schemas into which moves have put the tables of the server.
  package func retiredSchemas() async throws -> [String] {
    try await inspecting { transaction in
      let rows = try transaction.run(
        #"SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname LIKE 'moved\_%' ORDER BY nspname"#
      )
      return rows.indices.compactMap { rows.text($0, 0) }
    }
  }

  /// Creates or migrates the tables, and grants `role` what a server needs: it may read and change rows, and create
  /// and drop partitions, and may change no table.
  ///
  /// - Throws: `ServerDatabaseError`
  package func migrate(grantingTo role: String) async throws -> Migration {
    let earlier = try await inspecting { [self] transaction in
      try hasTables(transaction) ? try version(transaction) : 0
    }
    try await makeReady()
    let isGranted = try await transaction(isRepeatable: true) { transaction in
      try Self.grant(role, transaction)
    }
    return Migration(
      earlierVersion: earlier, version: schema.migrations.count, isGranted: isGranted)
  }

  private static func grant(_ role: String, _ transaction: PostgreSQLTransaction) throws -> Bool {
    let names = try transaction.run(
      """
      SELECT quote_ident(current_schema()), quote_ident($1) FROM pg_roles
      WHERE rolname = $1 AND rolname <> current_user
        AND oid <> (SELECT relowner FROM pg_class WHERE oid = 'schema_version'::regclass)
      """, .text(role))
    guard names.count > 0, let schema = names.text(0, 0), let role = names.text(0, 1) else {
      return false
    }
    for grant in [
      "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
      "REVOKE INSERT, UPDATE, DELETE ON schema_version FROM \(role)",
      "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)",
      "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA \(schema) TO \(role)",
    ] {
      try transaction.runOnce(grant)
    }
    return true
  }
}
