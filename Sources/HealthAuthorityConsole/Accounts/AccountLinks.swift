import Foundation
import GRDB
import World

/// The one-time links with which an official sets a password and a code generator: for a new account, and for one whose
/// holder has lost them. Only a keyed hash is stored.
struct AccountLinks: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let keys: ConsoleKeys
  let clock: any WallClock
  let randomness: any Randomness

  /// Makes the link of `account` and ends an earlier one.
  ///
  /// - Returns: The token in the link, which is shown once.
  func make(for account: Account, by actor: String) async throws -> String {
    let token = Data(randomness.bytes(32)).base64URL
    let (now, hash) = (clock.now.unixSecond, hash(token))
    try await database.write { db in
      try db.execute(sql: "DELETE FROM link WHERE account_id = ?", arguments: [account.id])
      try db.execute(
        sql: "INSERT INTO link (token_hash, account_id, expires_at) VALUES (?, ?, ?)",
        arguments: [hash, account.id, now + ConsoleLimit.linkSeconds])
      try audit.append(AuditEvent(actor, .linkMade, account.name), at: now, in: db)
    }
    return token
  }

  /// The account of a link; nil if it was used, has expired or never existed.
  func account(of token: String) async throws -> Account? {
    let (now, hash) = (clock.now.unixSecond, hash(token))
    return try await database.read { db in
      let row = try Row.fetchOne(
        db, sql: "SELECT account_id FROM link WHERE token_hash = ? AND expires_at > ?",
        arguments: [hash, now])
      guard let id: Int64 = row?["account_id"] else { return nil }
      guard let account = try AccountStore.account(id: id, in: db), !account.isDisabled else {
        return nil
      }
      return account
    }
  }

  /// The code generator that the page of a link shows. It follows from the link, so that the form does not carry it.
  func generator(for token: String) -> CodeGenerator {
    CodeGenerator(secret: keys.code(of: Data("generator \(token)".utf8), for: .codes).prefix(20))
  }

  private func hash(_ token: String) -> Data { keys.code(of: Data(token.utf8), for: .link) }
}
