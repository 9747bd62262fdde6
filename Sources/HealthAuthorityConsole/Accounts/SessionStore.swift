// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Secrets
import TextEncodings
import WebPages
import World

/// A session of an official. Its token is in a cookie; only a keyed hash of it is stored.
struct Session: Redacted, Sendable {
  let account: Account
  let token: String
  /// The time of the sign-in, in Unix seconds.
  let startedAt: Int64
  /// The token that every form of the session carries, which other sites cannot know.
  let formToken: String
}

/// The sessions in the database.
struct SessionStore: Sendable {
  let database: ConsoleDatabase
  let audit: AuditLog
  let keys: ConsoleKeys
  let clock: any WallClock
  let randomness: any Randomness

  private static let tokenBytes = 32

  /// Starts a session and records it. Sessions that have ended for some time are removed.
  func start(for account: Account, with method: String) async throws -> Session {
    let token = Data(randomness.bytes(Self.tokenBytes)).base64URL
    let (now, hash) = (clock.now.unixSecond, hash(token))
    try await database.write { db in
      try db.execute(
        sql: "DELETE FROM session WHERE used_at <= ? OR created_at <= ?",
        arguments: [
          now - ConsoleLimit.sessionIdleSeconds - ConsoleLimit.endedSessionSeconds,
          now - ConsoleLimit.sessionSeconds - ConsoleLimit.endedSessionSeconds,
        ])
      try db.execute(
        sql: """
          DELETE FROM session WHERE account_id = ? AND token_hash NOT IN (
            SELECT token_hash FROM session WHERE account_id = ? ORDER BY used_at DESC LIMIT ?)
          """, arguments: [account.id, account.id, ConsoleLimit.sessionsMax - 1])
      try db.execute(
        sql:
          "INSERT INTO session (token_hash, account_id, created_at, used_at) VALUES (?, ?, ?, ?)",
        arguments: [hash, account.id, now, now])
      try audit.append(AuditEvent(account.name, .signedIn, detail: method), at: now, in: db)
    }
    return session(account, token, startedAt: now)
  }

  /// The session of a token; nil if it has ended or never existed.
  func session(_ token: String) async throws -> Session? {
    let (now, hash) = (clock.now.unixSecond, hash(token))
    let found: (account: Account, startedAt: Int64, usedAt: Int64)? = try await database.read {
      db in
      let row = try db.row(
        sql: "SELECT * FROM session WHERE token_hash = ?", arguments: [hash])
      guard let row else { return nil }
      let (id, createdAt, usedAt): (Int64, Int64, Int64) = (
        row["account_id"], row["created_at"], row["used_at"]
      )
      guard now < usedAt + ConsoleLimit.sessionIdleSeconds,
        now < createdAt + ConsoleLimit.sessionSeconds,
        let account = try AccountStore.account(id: id, in: db), !account.isDisabled
      else { return nil }
      return (account, createdAt, usedAt)
    }
    guard let found else { return nil }
    if now >= found.usedAt + ConsoleLimit.sessionTouchSeconds {
      try await database.write {
        try $0.execute(
          sql: "UPDATE session SET used_at = ? WHERE token_hash = ?", arguments: [now, hash])
      }
    }
    return session(found.account, token, startedAt: found.startedAt)
  }

  /// True if the official has signed in within the last minutes.
  func isFresh(_ session: Session) -> Bool {
    clock.now.unixSecond < session.startedAt + ConsoleLimit.freshSessionSeconds
  }

  func end(_ session: Session) async throws {
    let (now, hash) = (clock.now.unixSecond, hash(session.token))
    try await database.write { db in
      try db.execute(sql: "DELETE FROM session WHERE token_hash = ?", arguments: [hash])
      try audit.append(AuditEvent(session.account.name, .signedOut), at: now, in: db)
    }
  }

  private func session(_ account: Account, _ token: String, startedAt: Int64) -> Session {
    Session(
      account: account, token: token, startedAt: startedAt,
      formToken: keys.code(of: Data(token.utf8), for: .form).base64URL)
  }

  private func hash(_ token: String) -> Data { keys.code(of: Data(token.utf8), for: .session) }
}

/// The cookies of the console.
struct SessionCookie: Sendable {
  let name: String
  private let attributes: String

  /// - Parameters:
  ///   - isEncrypted: True if the console is used over `https`. The cookie is then sent over nothing else.
  ///   - port: The port, which is part of the name: cookies do not distinguish ports.
  init(isEncrypted: Bool, port: Int) {
    name = isEncrypted ? "__Host-firebreak-console" : "firebreak-console-\(port)"
    attributes = "; Path=/; HttpOnly; SameSite=Strict" + (isEncrypted ? "; Secure" : "")
  }

  /// The value of `Set-Cookie` for a session. The browser removes it when it is closed.
  func header(_ session: Session) -> String { "\(name)=\(session.token)\(attributes)" }

  /// The value of `Set-Cookie` that removes the cookie.
  var removal: String { "\(name)=\(attributes); Max-Age=0" }

  /// The token in the header `Cookie`.
  func token(in header: String?) -> String? { Self.value(of: name, in: header) }

  /// The value of a cookie in the header `Cookie`.
  static func value(of name: String, in header: String?) -> String? {
    CookieHeader.values(of: name, in: header).first
  }
}
