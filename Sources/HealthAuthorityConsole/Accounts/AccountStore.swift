// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import World

/// The accounts in the database. Every change is recorded in the audit log in the same transaction.
struct AccountStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let keys: ConsoleKeys
  let clock: any WallClock
  let randomness: any Randomness

  /// The reasons why an account is not changed.
  enum Refusal: Error, Hashable {
    case nameTaken
    /// The name looks like that of another account.
    case looksAlike(String)
    case tooMany
    /// There would be no administrator left.
    case lastAdministrator
  }

  /// The secrets of an account.
  struct Credentials: Sendable {
    let password: PasswordHash
    let generator: CodeGenerator
    /// The step of the last code that was accepted.
    let lastStep: Int64
  }

  /// All accounts, by name.
  func all() async throws -> [Account] {
    try await database.read {
      try $0.rows(sql: "SELECT * FROM account ORDER BY name_key").map { Account($0) }
    }
  }

  func account(id: Int64) async throws -> Account? {
    try await database.read { try Self.account(id: id, in: $0) }
  }

  func account(named name: String) async throws -> Account? {
    let key = AccountName.key(name)
    return try await database.read {
      try $0.row(sql: "SELECT * FROM account WHERE name_key = ?", arguments: [key])
        .map { Account($0) }
    }
  }

  static func account(id: Int64, in db: ConsoleTransaction) throws -> Account? {
    try db.row(sql: "SELECT * FROM account WHERE id = ?", arguments: [id])
      .map { Account($0) }
  }

  /// Adds an account without a password.
  ///
  /// - Throws: `Refusal`.
  func add(name: String, role: Role, by actor: String) async throws -> Account {
    let (now, handle) = (clock.now.unixSecond, newHandle())
    return try await database.write { db in
      try insert(name: name, role: role, handle: handle, by: actor, at: now, in: db)
    }
  }

  /// The user handle of a new account.
  func newHandle() -> Data { Data(randomness.bytes(16)) }

  /// Adds an account with a password and a code generator, which an operator passes on.
  ///
  /// - Throws: `Refusal`.
  func add(
    name: String, role: Role, credentials: Credentials, by actor: String
  ) async throws {
    let (now, handle) = (clock.now.unixSecond, newHandle())
    try await database.write { db in
      let account = try insert(name: name, role: role, handle: handle, by: actor, at: now, in: db)
      try set(credentials, of: account, by: actor, at: now, in: db)
    }
  }

  /// Checks the name of a new account.
  ///
  /// - Throws: `Refusal`.
  func check(name: String) async throws {
    try await database.read { try Self.check(name, AccountName.key(name), in: $0) }
  }

  private static func check(_ name: String, _ key: String, in db: ConsoleTransaction) throws {
    let count = try db.count(sql: "SELECT count(*) FROM account")
    guard count < ConsoleLimit.accountsMax else { throw Refusal.tooMany }
    let taken = try db.row(
      sql: "SELECT 1 FROM account WHERE name_key = ?", arguments: [key])
    guard taken == nil else { throw Refusal.nameTaken }
    let shape = LookAlikeName(name)
    let names = try db.rows(sql: "SELECT name FROM account").map { row -> String in row["name"] }
    if let other = names.first(where: { LookAlikeName($0) == shape }) {
      throw Refusal.looksAlike(other)
    }
  }

  /// Adds an account without a password in a transaction.
  ///
  /// - Throws: `Refusal`.
  func insert(
    name: String, role: Role, handle: Data, by actor: String, at now: Int64,
    in db: ConsoleTransaction
  ) throws -> Account {
    let key = AccountName.key(name)
    try Self.check(name, key, in: db)
    let id = try db.integer(
      sql: """
        INSERT INTO account (name, name_key, role, handle, created_at) VALUES (?, ?, ?, ?, ?)
        RETURNING id
        """, arguments: [name, key, role.rawValue, handle, now])
    guard let id else { throw Refusal.nameTaken }
    try db.execute(sql: "UPDATE account SET circle = id WHERE id = ?", arguments: [id])
    try audit.append(AuditEvent(actor, .accountAdded, name, detail: role.rawValue), at: now, in: db)
    guard let account = try Self.account(id: id, in: db) else { throw Refusal.nameTaken }
    return account
  }

  /// Sets the password and the code generator. Deletes the passkeys, the sessions and the link of the account.
  func set(
    _ credentials: Credentials, of account: Account, by actor: String, at now: Int64,
    in db: ConsoleTransaction
  ) throws {
    let sealed = try keys.seal(
      credentials.generator.secret, of: "account \(account.id)", randomness: randomness)
    try db.execute(
      sql: """
        UPDATE account SET password_hash = ?, sealed_code_secret = ?, last_code_step = ?
        WHERE id = ?
        """, arguments: [credentials.password.text, sealed, credentials.lastStep, account.id])
    for table in ["passkey", "session", "link"] {
      try db.execute(sql: "DELETE FROM \(table) WHERE account_id = ?", arguments: [account.id])
    }
    try db.execute(
      sql: "DELETE FROM sign_in_failure WHERE name_hash = ?", arguments: [nameHash(account.name)])
    let ended = try Self.endProposals(of: account, by: actor, at: now, in: db)
    try audit.append(
      AuditEvent(actor, .credentialsSet, account.name, detail: ended), at: now, in: db)
  }

  /// Sets the password and the code generator of an account, as `set(_:of:by:at:in:)`.
  func replaceCredentials(
    of account: Account, with credentials: Credentials, by actor: String
  ) async throws {
    let now = clock.now.unixSecond
    try await database.write { try set(credentials, of: account, by: actor, at: now, in: $0) }
  }

  /// The secrets of an account; nil if none are set.
  func credentials(of account: Account) async throws -> Credentials? {
    let row = try await database.read {
      try $0.row(sql: "SELECT * FROM account WHERE id = ?", arguments: [account.id])
        .map { row -> (String?, Data?, Int64) in
          (row["password_hash"], row["sealed_code_secret"], row["last_code_step"])
        }
    }
    guard let row, let password = row.0, let sealed = row.1 else { return nil }
    let secret = try keys.open(sealed, of: "account \(account.id)")
    return Credentials(
      password: PasswordHash(text: password), generator: CodeGenerator(secret: secret),
      lastStep: row.2)
  }

  /// Marks the code of `step` as used; returns false if it was used before.
  func useStep(_ step: Int64, of account: Account) async throws -> Bool {
    try await database.write { db in
      try db.change(
        sql: "UPDATE account SET last_code_step = ? WHERE id = ? AND last_code_step < ?",
        arguments: [step, account.id, step]) == 1
    }
  }

  /// Disables an account and ends its sessions, or enables it again.
  ///
  /// - Throws: `Refusal.lastAdministrator`.
  func setDisabled(_ isDisabled: Bool, _ account: Account, by actor: String) async throws {
    try await database.write { try setDisabled(isDisabled, account, by: actor, in: $0) }
  }

  /// Disables or enables an account in a transaction, as `setDisabled(_:_:by:)`.
  func setDisabled(
    _ isDisabled: Bool, _ account: Account, by actor: String, in db: ConsoleTransaction
  ) throws {
    let now = clock.now.unixSecond
    if isDisabled { try Self.checkDisabling(account, in: db) }
    try db.execute(
      sql: "UPDATE account SET disabled_at = ? WHERE id = ?",
      arguments: [isDisabled ? now : nil, account.id])
    try db.execute(sql: "DELETE FROM session WHERE account_id = ?", arguments: [account.id])
    try db.execute(sql: "DELETE FROM link WHERE account_id = ?", arguments: [account.id])
    let ended = isDisabled ? try Self.endProposals(of: account, by: actor, at: now, in: db) : ""
    try audit.append(
      AuditEvent(
        actor, isDisabled ? .accountDisabled : .accountEnabled, account.name, detail: ended),
      at: now, in: db)
  }

  /// Ends the open proposals of an account; returns the detail for the audit log.
  private static func endProposals(
    of account: Account, by actor: String, at now: Int64, in db: ConsoleTransaction
  ) throws -> String {
    let ended = try ProposalStore.withdraw(of: account, by: actor, at: now, in: db)
    return ended.isEmpty ? "" : "withdrawn: " + ended.joined(separator: ", ")
  }

  /// Checks that an administrator is left without `account`.
  ///
  /// - Throws: `Refusal.lastAdministrator`.
  func checkDisabling(_ account: Account) async throws {
    try await database.read { try Self.checkDisabling(account, in: $0) }
  }

  private static func checkDisabling(_ account: Account, in db: ConsoleTransaction) throws {
    guard account.role == .administrator else { return }
    let others = try db.count(
      sql: """
        SELECT count(*) FROM account
        WHERE role = 'administrator' AND disabled_at IS NULL AND password_hash IS NOT NULL
          AND id != ?
        """, arguments: [account.id])
    guard others > 0 else { throw Refusal.lastAdministrator }
  }

  /// The sessions and passkeys of an account.
  func counts(of account: Account) async throws -> (sessions: Int, passkeys: Int) {
    let now = clock.now.unixSecond
    return try await database.read { db in
      let sessions = try db.count(
        sql: """
          SELECT count(*) FROM session WHERE account_id = ? AND used_at > ? AND created_at > ?
          """,
        arguments: [
          account.id, now - ConsoleLimit.sessionIdleSeconds, now - ConsoleLimit.sessionSeconds,
        ])
      let passkeys = try db.count(
        sql: "SELECT count(*) FROM passkey WHERE account_id = ?", arguments: [account.id])
      return (sessions, passkeys)
    }
  }

  private func nameHash(_ name: String) -> Data {
    keys.code(of: Data(AccountName.key(name).utf8), for: .name)
  }
}
