// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Logging
import PostgreSQL
import QuietHTTP
import ServerStorage
import SharedBudgets
import World

/// The database of the console: accounts, sessions, the audit log and the proposed changes.
struct ConsoleDatabase: Sendable {
  private enum Engine {
    case file(ServerDatabase)
    case postgreSQL(PostgreSQLServerDatabase)
  }

  private let engine: Engine

  /// The schema. Later versions append migrations and never change released ones.
  static let schema = DatabaseSchema(
    name: "database of the console", migrations: makeMigrations())

  /// Opens or creates the database in `file`, which belongs to `keys`.
  init(
    file: URL, keys: ConsoleKeys, schema: DatabaseSchema = Self.schema
  ) throws(ServerDatabaseError) {
    engine = .file(try ServerDatabase.open(file, schema: schema, secretCheck: keys.check))
  }

  /// Opens the existing database in `file` without changing it.
  init(reading file: URL, keys: ConsoleKeys) throws(ServerDatabaseError) {
    engine = .file(
      try ServerDatabase.openReadOnly(file, schema: Self.schema, secretCheck: keys.check))
  }

  /// The database at `address` in PostgreSQL, which several processes may share. It is reached by `makeReady()` or the
  /// first transaction.
  init(_ address: PostgreSQLAddress, keys: ConsoleKeys, logger: Logger) {
    engine = .postgreSQL(
      PostgreSQLServerDatabase(
        address, schema: PostgreSQLConsoleSchema.schema, secretCheck: keys.check,
        connections: ConsoleLimit.databaseConnections, logger: logger))
  }

  /// Reaches the database in PostgreSQL, and creates or migrates its tables. That in a file is open already.
  ///
  /// - Throws: `ServerDatabaseError`
  func makeReady() async throws {
    if case .postgreSQL(let database) = engine { try await database.makeReady() }
  }

  /// The counters of attempts that all processes with this database share; nil for a database in a file, which one
  /// process has.
  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)? {
    guard case .postgreSQL(let database) = engine else { return nil }
    return PostgreSQLCounters(database, clock: clock)
  }

  /// Removes the counters of attempts whose windows have ended.
  func removeOldCounters() async throws {
    guard case .postgreSQL(let database) = engine else { return }
    try await database.transaction(isRepeatable: true) {
      _ = try $0.runLast([PostgreSQLCounters.removal])
    }
  }

  /// Runs `work` in a read transaction, which sees one state of the database.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (ConsoleTransaction) throws -> Value
  ) async throws -> Value {
    switch engine {
    case .file(let database):
      try await database.read { try work(ConsoleTransaction($0)) }
    case .postgreSQL(let database):
      try await database.transaction(.snapshot) { try work(ConsoleTransaction($0)) }
    }
  }

  /// Runs `work` in a transaction, which is rolled back if it throws. Transactions that write run one after the other,
  /// also those of several processes, so that what `work` has read stays true until it ends.
  ///
  /// - Parameter work: The statements; with PostgreSQL it may run several times, of which one is committed.
  /// - Throws: `ServerDatabaseError.damaged`; `.lost` also if the transaction succeeded but is lost; `.unreachable`
  ///   also if it is not known if the transaction succeeded; other errors.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (ConsoleTransaction) throws -> Value
  ) async throws -> Value {
    switch engine {
    case .file(let database):
      try await database.write { try work(ConsoleTransaction($0)) }
    case .postgreSQL(let database):
      try await database.transaction { transaction in
        // Later statements see everything that was committed before the lock.
        try transaction.run("SELECT FROM server_state FOR UPDATE")
        return try work(ConsoleTransaction(transaction))
      }
    }
  }

  /// The parts of the console that fail: its database if a transaction cannot be written.
  func failingParts() async -> [ServerHealth.Part] {
    do {
      // Without a change, because a full disk and a read-only database fail only at a write.
      try await write { try $0.execute(sql: "UPDATE server_state SET newest_time = newest_time") }
      return []
    } catch {
      return [.database]
    }
  }

  /// Checks that the file is in place and that its structure has no fault, or reads the audit log in PostgreSQL, which
  /// notices damaged pages if the cluster has checksums.
  func check() async throws -> ServerDatabaseError? {
    switch engine {
    case .file(let database):
      guard database.isInPlace else { return .lost }
      return try await database.check { _ in } == nil ? .damaged : nil
    case .postgreSQL(let database):
      let count = try await database.check { try $0.run("SELECT count(hash) FROM audit").count }
      return count == nil ? .damaged : nil
    }
  }

  private static func makeMigrations() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("schema 1") { db in
      try db.execute(sql: accountTables)
      try db.execute(sql: otherTables)
      try db.execute(sql: ServerState.table)
    }
    migrator.registerMigration("schema 2: audit log with a key") { db in
      try db.execute(sql: auditUpgrade)
    }
    migrator.registerMigration("schema 3: start of the audit log beside the secret") { db in
      try db.execute(sql: "DROP TABLE audit_upgrade")
    }
    migrator.registerMigration("schema 4: two people for all changes") { db in
      try db.execute(
        sql: "ALTER TABLE proposal ADD COLUMN kind TEXT NOT NULL DEFAULT 'configuration'")
    }
    migrator.registerMigration("schema 5: outcome of approved changes") { db in
      try db.execute(sql: outcomeUpgrade)
    }
    migrator.registerMigration("schema 6: numbers of issued codes") { db in
      try db.execute(sql: issuedCodeTable)
    }
    migrator.registerMigration("schema 7: used challenges of passkeys") { db in
      try db.execute(sql: usedChallengeTable)
    }
    return migrator
  }

  /// `challenge` is a challenge without its authentication code.
  private static let usedChallengeTable = """
    CREATE TABLE used_challenge (
      challenge BLOB NOT NULL PRIMARY KEY,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// `uuid` and `list` are numbers of codes and lists in lower case. Nothing is about a person.
  private static let issuedCodeTable = """
    CREATE TABLE issued_code (
      uuid TEXT NOT NULL PRIMARY KEY,
      account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      issued_at INTEGER NOT NULL,
      test TEXT NOT NULL,
      list TEXT
    ) STRICT;
    CREATE INDEX issued_code_by_account ON issued_code (account_id, issued_at);
    """

  /// The number of entries that have no key.
  private static let auditUpgrade = """
    CREATE TABLE audit_upgrade (entries INTEGER NOT NULL) STRICT;
    INSERT INTO audit_upgrade
      SELECT entries FROM (SELECT count(*) AS entries FROM audit) WHERE entries > 0;
    """

  /// `account_id` is the account that a change concerns. Decisions without `carried_out_at` have an unknown outcome;
  /// those of earlier versions count as carried out.
  private static let outcomeUpgrade = """
    ALTER TABLE proposal ADD COLUMN account_id INTEGER;
    ALTER TABLE proposal ADD COLUMN carried_out_at INTEGER;
    UPDATE proposal SET carried_out_at = decided_at WHERE decision IN ('approved', 'alone');
    """

  /// Times are in Unix seconds. `name_key` is the name in lower case; Accounts that one person could control through
  /// links have the same `circle`.
  private static let accountTables = """
    CREATE TABLE account (
      id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL,
      handle BLOB NOT NULL UNIQUE,
      password_hash TEXT,
      sealed_code_secret BLOB,
      last_code_step INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      disabled_at INTEGER,
      circle INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE passkey (
      credential_id BLOB NOT NULL PRIMARY KEY,
      account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      public_key BLOB NOT NULL,
      sign_count INTEGER NOT NULL,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX passkey_by_account ON passkey (account_id);
    CREATE TABLE session (
      token_hash BLOB NOT NULL PRIMARY KEY,
      account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX session_by_account ON session (account_id);
    CREATE TABLE link (
      token_hash BLOB NOT NULL PRIMARY KEY,
      account_id INTEGER NOT NULL UNIQUE REFERENCES account (id) ON DELETE CASCADE,
      made_by INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sign_in_failure (
      name_hash BLOB NOT NULL,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sign_in_failure_by_name ON sign_in_failure (name_hash, at);
    """

  private static let otherTables = """
    CREATE TABLE audit (
      sequence INTEGER NOT NULL PRIMARY KEY,
      time INTEGER NOT NULL,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      subject TEXT NOT NULL,
      detail TEXT NOT NULL,
      previous_hash BLOB NOT NULL,
      hash BLOB NOT NULL
    ) STRICT;
    CREATE TABLE proposal (
      id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
      document TEXT NOT NULL,
      replaces INTEGER NOT NULL,
      reason TEXT NOT NULL,
      proposed_by TEXT NOT NULL,
      proposed_at INTEGER NOT NULL,
      decision TEXT,
      decided_by TEXT,
      decided_at INTEGER
    ) STRICT;
    """
}
