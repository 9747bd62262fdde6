// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextEncodings
import World

/// The one-time links with which an official sets a password and a code generator: for a new account, and for one whose
/// holder has lost them. Only a keyed hash is stored.
struct AccountLinks: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let keys: ConsoleKeys
  /// The days for which a link works.
  let days: Int
  let clock: any WallClock
  let randomness: any Randomness

  /// The end of a link that is made now, in Unix seconds.
  var end: Int64 { clock.now.unixSecond + Int64(days) * 86_400 }

  /// The token of a new link, which is shown once.
  func newToken() -> String { Data(randomness.bytes(32)).base64URL }

  /// Creates a link with a new token in a transaction, and ends an earlier one.
  func store(
    _ token: String, for account: Account, by actor: Account, in db: ConsoleTransaction
  ) throws {
    let now = clock.now.unixSecond
    try db.execute(sql: "DELETE FROM link WHERE account_id = ?", arguments: [account.id])
    try db.execute(
      sql: "INSERT INTO link (token_hash, account_id, made_by, expires_at) VALUES (?, ?, ?, ?)",
      arguments: [hash(token), account.id, actor.id, end])
    try audit.append(AuditEvent(actor.name, .linkMade, account.name), at: now, in: db)
  }

  /// The account of a link; nil if it was used, has expired or never existed.
  func account(of token: String) async throws -> Account? {
    let (now, hash) = (clock.now.unixSecond, hash(token))
    return try await database.read { try Self.use(of: hash, at: now, in: $0)?.account }
  }

  /// Sets the password and the code generator of the account of a link, and uses up the link.
  ///
  /// - Returns: False if the link was used or has expired in the meantime; nothing is changed then.
  func use(_ token: String, for password: PasswordHash, step: Int64, in accounts: AccountStore)
    async throws -> Bool
  {
    let (now, hash, generator) = (clock.now.unixSecond, hash(token), generator(for: token))
    return try await database.write { db in
      guard let use = try Self.use(of: hash, at: now, in: db) else { return false }
      let credentials = AccountStore.Credentials(
        password: password, generator: generator, lastStep: step)
      try accounts.set(credentials, of: use.account, by: use.account.name, at: now, in: db)
      try db.execute(
        sql: "UPDATE account SET circle = ? WHERE circle = ?",
        arguments: [use.circle, use.account.circle])
      return true
    }
  }

  /// The account of a link, and the circle of the administrator who made it.
  private static func use(
    of hash: Data, at now: Int64, in db: ConsoleTransaction
  ) throws -> (account: Account, circle: Int64)? {
    let row = try db.row(
      sql: "SELECT account_id, made_by FROM link WHERE token_hash = ? AND expires_at > ?",
      arguments: [hash, now])
    guard let row, let account = try AccountStore.account(id: row["account_id"], in: db),
      !account.isDisabled, let maker = try AccountStore.account(id: row["made_by"], in: db)
    else { return nil }
    return (account, maker.circle)
  }

  /// The code generator that the page of a link shows. It is derived from the link, so that the form need not contain
  /// it.
  func generator(for token: String) -> CodeGenerator {
    CodeGenerator(secret: keys.code(of: Data("generator \(token)".utf8), for: .codes).prefix(20))
  }

  private func hash(_ token: String) -> Data { keys.code(of: Data(token.utf8), for: .link) }
}
