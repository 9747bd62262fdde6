// SPDX-License-Identifier: Apache-2.0
import Logging
import TestSupport
import Testing

@testable import PostgreSQL

/// Servers that accept no changes: standbys, and primaries that are being replaced.
@Suite("PostgreSQL: standbys", .needs(.process)) struct PostgreSQLStandbyTests {
  private static func database(at address: PostgreSQLAddress) -> PostgreSQLDatabase {
    PostgreSQLDatabase(
      address, connections: 1, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// A database at `text`, whose limits of time are those of a busy machine.
  private static func patient(_ text: String) throws -> PostgreSQLDatabase {
    var address = try PostgreSQLAddress(text + " connect_timeout=60")
    address.timeFactor = 20
    return database(at: address)
  }

  private static func isOfStandby(_ database: PostgreSQLDatabase) async throws -> Bool {
    try await database.transaction { try $0.run("SELECT pg_is_in_recovery()").bool(0, 0) }
  }

  /// A primary and its standby with one row in the table t, and the address of both, the standby first.
  private struct Pair {
    let primary: PrivatePostgreSQL
    let standby: PrivatePostgreSQL
    let both: String

    init() async throws {
      primary = try await PrivatePostgreSQL()
      try await primary.run("CREATE TABLE t (a bigint)")
      standby = try await PrivatePostgreSQL(follow: primary)
      both = standby.address(or: primary)
    }
  }

  private static let insert = PostgreSQLStatement("INSERT INTO t VALUES (1)")

  @Test("After SQLSTATE 25006 the transaction is repeated on another connection")
  func refusedChange() async throws {
    let database = Self.database(at: try await PrivatePostgreSQL.newPatientDatabase())
    // The setting is that of one connection.
    let first = try await database.transaction {
      try $0.run("SELECT set_config('test.is_standby', '1', false), pg_backend_pid()::bigint")
        .integer(0, 1)
    }
    let second = try await database.transaction { transaction in
      try transaction.runOnce(
        """
        DO $$ BEGIN
          IF current_setting('test.is_standby', true) = '1' THEN
            RAISE EXCEPTION 'cannot execute INSERT in a read-only transaction' USING ERRCODE = '25006';
          END IF;
        END $$
        """)
      return try transaction.run("SELECT pg_backend_pid()::bigint").firstInteger
    }
    #expect(second != nil && second != first)
  }

  @Test(
    "If the address admits standbys, the first change goes to the primary, and what follows, too",
    .timeLimit(.minutes(Patience.minutes)))
  func admitted() async throws {
    let pair = try await Pair()
    let database = try Self.patient("\(pair.both) target_session_attrs=any")
    #expect(try await Self.isOfStandby(database))
    try await database.transaction { _ = try $0.runLast([Self.insert]) }
    #expect(try await !Self.isOfStandby(database))
    #expect(try await pair.primary.run("SELECT count(*) FROM t") == 1)
    let other = try Self.patient("\(pair.both) target_session_attrs=standby")
    #expect(try await Self.isOfStandby(other))
    other.requirePrimary()
    #expect(try await !Self.isOfStandby(other))
  }

  @Test(
    "A standby is a server that cannot be reached until it is promoted, whatever the address says",
    .timeLimit(.minutes(Patience.minutes)))
  func promoted() async throws {
    let pair = try await Pair()
    try await pair.primary.kill()
    let attributes = ["", "any", "standby", "primary"]
    let databases = try attributes.map { attribute in
      Self.database(
        at: try PostgreSQLAddress(
          pair.both + " connect_timeout=60"
            + (attribute.isEmpty ? "" : " target_session_attrs=\(attribute)")))
    }
    for (attribute, database) in zip(attributes, databases) {
      let error = await #expect(throws: PostgreSQLError.self) {
        try await database.transaction { _ = try $0.runLast([Self.insert]) }
      }
      // The first attempt may take all the time on a busy machine.
      #expect(error?.kind == .unavailable || error?.kind == .readOnly, "\(attribute)")
      let isNamed = error.map { PostgreSQLError.isOfStandby($0.description) }
      #expect(isNamed == true, "\(attribute): \(error.debugDescription)")
    }
    try await pair.standby.promote()
    for database in databases {
      try await Patience.until {
        // It may wait between two attempts to connect.
        do {
          try await database.transaction { _ = try $0.runLast([Self.insert]) }
        } catch is PostgreSQLError { return false }
        return true
      }
    }
  }
}
