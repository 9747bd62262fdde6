import Foundation
import GRDB
import ServerStorage
import World

/// The database of the console: accounts, sessions, the audit log and the changes of the remote configuration.
struct ConsoleDatabase: Sendable {
  private let pool: DatabasePool

  /// The reasons why a database cannot be used.
  enum Failure: Error {
    /// It belongs to another secret.
    case otherSecret
    /// A newer version has changed its schema.
    case newer
    /// It cannot be opened or written.
    case unavailable
  }

  /// Opens or creates the database in `file`, which belongs to `keys`.
  init(file: URL, keys: ConsoleKeys) throws(Failure) {
    do {
      // SQLite would create the file with the permissions of the umask.
      if !FileManager.default.fileExists(atPath: file.path) {
        try AtomicFile.write(Data(), to: file, permissions: 0o600)
      }
      var configuration = Configuration()
      configuration.foreignKeysEnabled = true
      configuration.busyMode = .timeout(Self.busySeconds)
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      pool = try DatabasePool(path: file.path, configuration: configuration)
      let migrations = Self.migrations
      guard try !pool.read(migrations.hasBeenSuperseded) else { throw Failure.newer }
      try migrations.migrate(pool)
      let check = keys.check
      guard try pool.write({ try ServerState.belongs(to: check, in: $0) }) else {
        throw Failure.otherSecret
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw .unavailable
    }
  }

  /// Runs `work` in a read transaction.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await pool.read(work)
  }

  /// Runs `work` in a transaction, which is rolled back if it throws.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await pool.write(work)
  }

  /// The maximum wait for a transaction of another process, such as the command that adds an account.
  private static let busySeconds: TimeInterval = 5

  private static var migrations: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("schema 1") { db in
      try db.execute(sql: accountTables)
      try db.execute(sql: otherTables)
      try db.execute(sql: ServerState.table)
    }
    return migrator
  }

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

extension Date {
  /// Whole Unix seconds, the form of times in the database.
  var unixSecond: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }

  /// The start of a Unix second.
  init(unixSecond: Int64) { self.init(timeIntervalSince1970: TimeInterval(unixSecond)) }
}
