// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import Secrets
import Synchronization
import World

/// The database of a server in PostgreSQL, which several processes may share.
///
/// It is made ready by the first transaction: migrated, claimed for the server's secret, and compared with the version
/// of this program.
package final class PostgreSQLServerDatabase: Sendable {
  /// The schema of a server's database in PostgreSQL.
  package struct Schema: Sendable {
    /// The name of the database in messages, such as `key database`.
    package let name: String
    /// The statements of each migration. A released one is never changed: later versions append.
    package let migrations: [[String]]

    package init(name: String, migrations: [[String]]) {
      self.name = name
      self.migrations = migrations
    }
  }

  let database: PostgreSQLDatabase
  let schema: Schema
  private let secretCheck: Data?
  private let mayBeEmpty: Bool
  private let prepare: @Sendable (PostgreSQLTransaction) throws -> Void
  private let isReady = Atomic<Bool>(false)
  private let isDamaged = Atomic<Bool>(false)

  /// Does not connect yet.
  ///
  /// - Parameters:
  ///   - address: The address of the database. An empty one that may not be empty is refused, and nothing is created.
  ///   - secretCheck: A value that is derived from the server's secret, to which the database must belong; nil for no
  ///     check. A new database belongs to it from then on.
  ///   - connections: The largest number of connections of this process.
  ///   - prepare: Runs in a transaction after the migrations, once for each process. It may take minutes.
  package init(
    _ address: PostgreSQLAddress, schema: Schema, secretCheck: Data?, connections: Int,
    logger: Logger,
    prepare: @escaping @Sendable (PostgreSQLTransaction) throws -> Void = { _ in }
  ) {
    database = PostgreSQLDatabase(address, connections: connections, logger: logger)
    self.schema = schema
    self.secretCheck = secretCheck
    mayBeEmpty = address.mayBeEmpty
    self.prepare = prepare
  }

  /// Migrates the database to the current schema, unless this process has done so.
  ///
  /// - Throws: `ServerDatabaseError`; the error of `prepare`.
  package func makeReady() async throws {
    guard !isReady.load(ordering: .acquiring) else { return }
    database.requirePrimary()
    try await mappingErrors {
      try await database.transaction(isRepeatable: true) { [self] transaction in
        // Several processes may start at once.
        try transaction.run("SELECT pg_advisory_xact_lock($1)", .integer(Lock.schema.rawValue))
        try migrate(transaction)
      }
      // The first start after an import releases all keys, for which another process waits.
      try await database.transaction(
        seconds: PostgreSQLLimit.longRequestSeconds, isRepeatable: true
      ) { [self] transaction in
        try transaction.run("SET LOCAL lock_timeout = 0")
        // Not the lock of migrations, for which another process waits five seconds only.
        try transaction.run("SELECT pg_advisory_xact_lock($1)", .integer(Lock.preparation.rawValue))
        try prepare(transaction)
      }
    }
    isReady.store(true, ordering: .releasing)
  }

  /// Runs a transaction on the migrated database: see `PostgreSQLDatabase.transaction`.
  ///
  /// - Throws: `ServerDatabaseError`; the error of `body`.
  package func transaction<Value: Sendable>(
    _ mode: PostgreSQLTransaction.Mode = .readCommitted,
    seconds: Double = PostgreSQLLimit.requestSeconds, isRepeatable: Bool = false,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await makeReady()
    if case .snapshot = mode {} else { try refuseDamaged() }
    return try await mappingErrors {
      try await database.transaction(mode, seconds: seconds, isRepeatable: isRepeatable, body)
    }
  }

  /// Connects, and changes nothing in the database.
  ///
  /// - Throws: `ServerDatabaseError`.
  package func connect() async throws {
    database.requirePrimary()
    try await mappingErrors { try await database.transaction { _ in } }
  }

  /// True if the database has no tables at all, or those of a server with this secret. Changes nothing in it.
  ///
  /// - Throws: `ServerDatabaseError`
  package func isFree() async throws -> Bool {
    try await inspecting { [self] transaction in
      do { _ = try Self.tableList(transaction) } catch ServerDatabaseError.empty { return true }
      let state = try transaction.run("SELECT to_regclass('server_state')::text").text(0, 0)
      guard state != nil, secretCheck != nil else { return false }
      do { return try isClaimed(transaction) } catch ServerDatabaseError.otherSecret {
        return false
      }
    }
  }

  /// Closes the connections.
  package func close() { database.close() }

  private func refuseDamaged() throws(ServerDatabaseError) {
    guard !isDamaged.load(ordering: .relaxed) else { throw .damaged }
  }

  /// Runs a check of all values. If it fails because of damage, changes are refused until a check succeeds.
  ///
  /// - Returns: The result of `body`; nil if the database is damaged.
  package func check<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value? {
    do {
      let value = try await transaction(
        .snapshot, seconds: PostgreSQLLimit.longRequestSeconds, body)
      isDamaged.store(false, ordering: .relaxed)
      return value
    } catch ServerDatabaseError.damaged {
      isDamaged.store(true, ordering: .relaxed)
      return nil
    }
  }

  func mappingErrors<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws -> Value {
    do { return try await work() } catch let error as PostgreSQLError { throw Self.mapped(error) }
  }

  /// The error of the storage for one of PostgreSQL, or the same error if it is one of the program.
  static func mapped(_ error: PostgreSQLError) -> any Error {
    switch error.kind {
    case .damaged: ServerDatabaseError.damaged
    case .unavailable, .connectionLost, .outcomeUnknown, .readOnly, .resources, .timeout,
      .conflict:
      ServerDatabaseError.unreachable(error.description)
    case .statement where error.sqlState == Self.insufficientPrivilege:
      ServerDatabaseError.denied(error.message)
    case .statement: error
    }
  }
}

extension PostgreSQLServerDatabase {
  /// The SQLSTATE of a missing right.
  private static let insufficientPrivilege = "42501"

  /// The numbers of the advisory locks of a server's database.
  package enum Lock: Int64 {
    /// Migrations.
    case schema = 0x46_42_01
    /// Held shared by uploads, and alone while periods are closed, so that no key gets into a closed period.
    case periods = 0x46_42_02
    /// Changes of apps, authorities and keys.
    case registry = 0x46_42_03
    /// Held by the session of the process that writes files.
    case export = 0x46_42_04
    /// Held by reservations of attempts near the boundary of a part of a window.
    case budgets = 0x46_42_05
    /// The preparation of a process after the migrations.
    case preparation = 0x46_42_06
  }

  /// Runs the missing migrations.
  private func migrate(_ transaction: PostgreSQLTransaction) throws {
    if try !hasTables(transaction) {
      try transaction.run("CREATE TABLE schema_version (version bigint NOT NULL)")
      try transaction.run("INSERT INTO schema_version VALUES (0)")
      _ = try transaction.run(Self.stateTable)
    }
    let version = try version(transaction)
    // Before the migration: a database of another server stays as it is.
    try claim(transaction)
    for migration in schema.migrations.dropFirst(version) {
      for statement in migration { try transaction.runOnce(statement) }
    }
    guard version < schema.migrations.count else { return }
    try transaction.run(
      "UPDATE schema_version SET version = $1", .integer(schema.migrations.count))
  }

  /// True unless the database is empty.
  ///
  /// - Throws: `ServerDatabaseError.empty` if it may not be.
  func hasTables(_ transaction: PostgreSQLTransaction) throws -> Bool {
    let table = try transaction.run("SELECT to_regclass('schema_version')::text").text(0, 0)
    guard table != nil || mayBeEmpty else { throw ServerDatabaseError.empty }
    return table != nil
  }

  /// The number of migrations of the database.
  ///
  /// - Throws: `ServerDatabaseError.newer` if there are more than this version of the program knows.
  func version(_ transaction: PostgreSQLTransaction) throws -> Int {
    let rows = try transaction.run("SELECT version FROM schema_version")
    let version = Int(rows.firstInteger ?? 0)
    guard version <= schema.migrations.count else { throw ServerDatabaseError.newer }
    return version
  }

  /// Lets a new database belong to the secret, or throws if it belongs to another one, or if it may not be new.
  private func claim(_ transaction: PostgreSQLTransaction) throws {
    guard try !isClaimed(transaction), let secretCheck else { return }
    try transaction.run("UPDATE server_state SET secret_check = $1", .bytes(secretCheck))
  }

  /// False if no server has started with the database.
  ///
  /// - Throws: `ServerDatabaseError.otherSecret` if it belongs to another secret; `.empty` if it may not be new.
  func isClaimed(_ transaction: PostgreSQLTransaction) throws -> Bool {
    let stored = try transaction.run("SELECT secret_check FROM server_state").bytes(0, 0)
    guard stored != nil || mayBeEmpty else { throw ServerDatabaseError.empty }
    guard let stored, let secretCheck else { return stored != nil }
    guard isEqualInConstantTime(stored, secretCheck) else { throw ServerDatabaseError.otherSecret }
    return true
  }

  /// The table that the databases of all servers have: see `ServerState`.
  private static let stateTable = [
    PostgreSQLStatement(
      """
      CREATE TABLE server_state (
        id smallint PRIMARY KEY CHECK (id = 1),
        secret_check bytea,
        newest_time bigint,
        confirmed_time bigint
      )
      """), PostgreSQLStatement("INSERT INTO server_state (id) VALUES (1)"),
  ]

  /// Returns the times of the clock.
  package func clockRecord() async throws -> ClockRecord {
    try await transaction { transaction in
      let rows = try transaction.run("SELECT newest_time, confirmed_time FROM server_state")
      func date(_ column: Int) -> Date? {
        rows.integer(0, column).map { Date(unixSecond: $0) }
      }
      return ClockRecord(newest: date(0), confirmed: date(1))
    }
  }

  /// Stores the newest time.
  package func keep(_ now: Date) async throws {
    try await transaction(isRepeatable: true) { transaction in
      _ = try transaction.runLast([
        PostgreSQLStatement(
          "UPDATE server_state SET newest_time = $1", .integer(now.unixSecond))
      ])
    }
  }

  /// Confirms that it is `now`.
  package func confirm(_ now: Date) async throws {
    try await transaction(isRepeatable: true) { transaction in
      _ = try transaction.runLast([
        PostgreSQLStatement(
          "UPDATE server_state SET newest_time = $1, confirmed_time = $1", .integer(now.unixSecond))
      ])
    }
  }
}
