// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import Secrets
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

/// The keys that are derived from the secret of the console's database, one for each purpose.
///
/// A copy of the database alone contains no usable session, link or code generator.
struct ConsoleKeys: Redacted, Sendable {
  private let secret: SymmetricKey

  /// Returns nil if the secret has another length than `byteCount`.
  init?(_ secret: Data, byteCount: Int) {
    guard secret.count == byteCount else { return nil }
    self.secret = SymmetricKey(data: secret)
  }

  /// The purposes of keys. The raw values are inputs of the key derivation.
  enum Purpose: String, CaseIterable {
    /// The check that the database belongs to the secret.
    case database
    /// The hashes of session tokens.
    case session
    /// The tokens that forms of a session carry.
    case form
    /// The hashes of links for a new password.
    case link
    /// The hashes of names whose sign-in failed.
    case name
    /// The challenges of passkeys.
    case challenge
    /// The secrets of code generators.
    case codes
  }

  /// The keyed hash of `bytes` for one purpose.
  func code(of bytes: some DataProtocol, for purpose: Purpose) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: bytes, using: key(for: purpose)))
  }

  /// A value in the database that identifies the secret.
  var check: Data { code(of: Data(), for: .database) }

  /// Encrypts `bytes`, which belong to `owner`.
  ///
  /// - Throws: If the cipher fails (a programming error).
  func seal(_ bytes: Data, of owner: String) throws -> Data {
    try AES.GCM.seal(bytes, using: key(for: .codes), authenticating: Data(owner.utf8)).combined
      ?? Data()
  }

  /// Decrypts what `seal` made for the same owner.
  ///
  /// - Throws: `CryptoKitError` if the bytes were changed or belong to another owner.
  func open(_ sealed: Data, of owner: String) throws -> Data {
    try AES.GCM.open(
      AES.GCM.SealedBox(combined: sealed), using: key(for: .codes), authenticating: Data(owner.utf8)
    )
  }

  private func key(for purpose: Purpose) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("Firebreak console 1: \(purpose.rawValue)".utf8),
      outputByteCount: 32)
  }
}
