import Foundation
import GRDB
import World

/// A passkey of an account, for its owner's page.
struct Passkey: Hashable, Sendable {
  let credential: PasskeyCeremony.Credential
  let name: String
  let createdAt: Int64

  init(_ row: Row) {
    let signCount: Int64 = row["sign_count"]
    credential = PasskeyCeremony.Credential(
      id: row["credential_id"], publicKey: row["public_key"],
      signCount: UInt32(truncatingIfNeeded: signCount))
    name = row["name"]
    createdAt = row["created_at"]
  }
}

/// The passkeys in the database.
struct PasskeyStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let clock: any WallClock

  /// The passkeys of an account, oldest first.
  func passkeys(of account: Account) async throws -> [Passkey] {
    try await database.read {
      try Row.fetchAll(
        $0, sql: "SELECT * FROM passkey WHERE account_id = ? ORDER BY created_at, credential_id",
        arguments: [account.id]
      ).map { Passkey($0) }
    }
  }

  /// The passkey with this id and the account with this handle, if they belong together.
  func passkey(id: Data, handle: Data) async throws -> (Passkey, Account)? {
    try await database.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT * FROM passkey WHERE credential_id = ?", arguments: [id])
      guard let row else { return nil }
      let accountID: Int64 = row["account_id"]
      guard let account = try AccountStore.account(id: accountID, in: db),
        account.handle == handle, !account.isDisabled
      else { return nil }
      return (Passkey(row), account)
    }
  }

  /// Adds a passkey; returns false if it is known or there are too many.
  func add(
    _ credential: PasskeyCeremony.Credential, name: String, to account: Account
  ) async throws -> Bool {
    let now = clock.now.unixSecond
    return try await database.write { db in
      let count = try Int.fetchOne(
        db, sql: "SELECT count(*) FROM passkey WHERE account_id = ?", arguments: [account.id])
      guard count ?? 0 < ConsoleLimit.passkeysMax else { return false }
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO passkey
            (credential_id, account_id, public_key, sign_count, name, created_at)
          VALUES (?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          credential.id, account.id, credential.publicKey, Int64(credential.signCount), name, now,
        ])
      guard db.changesCount == 1 else { return false }
      try audit.append(AuditEvent(account.name, .passkeyAdded, name), at: now, in: db)
      return true
    }
  }

  /// Stores the counter after a sign-in; returns false if another sign-in has stored a higher one.
  func update(_ credential: PasskeyCeremony.Credential) async throws -> Bool {
    try await database.write { db in
      let count = Int64(credential.signCount)
      try db.execute(
        sql: """
          UPDATE passkey SET sign_count = ?
          WHERE credential_id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0))
          """, arguments: [count, credential.id, count, count])
      return db.changesCount == 1
    }
  }

  /// Removes a passkey of the account.
  func remove(id: Data, of account: Account) async throws {
    let now = clock.now.unixSecond
    try await database.write { db in
      let name = try String.fetchOne(
        db, sql: "SELECT name FROM passkey WHERE credential_id = ? AND account_id = ?",
        arguments: [id, account.id])
      guard let name else { return }
      try db.execute(sql: "DELETE FROM passkey WHERE credential_id = ?", arguments: [id])
      try audit.append(AuditEvent(account.name, .passkeyRemoved, name), at: now, in: db)
    }
  }
}
