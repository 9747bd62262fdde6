// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The takeover of revocations by a console that was restored from a backup.
extension ConsoleAdministration {
  /// Ends all sessions and links.
  package func endSessions() async throws {
    try await composition.database.write { db in
      for table in ["session", "link"] { try db.execute(sql: "DELETE FROM \(table)") }
    }
  }

  /// Takes over what was taken from accounts after the backup: an account that was disabled stays disabled, passwords,
  /// code generators and passkeys that were replaced or removed are not valid again, a role that was changed stays
  /// changed, and requests that were decided are not open again.
  ///
  /// - Parameter earlier: The console before the restoration.
  /// - Returns: The number of changed accounts and requests.
  /// - Throws: `ConsoleError.database`.
  package func takeOver(from earlier: ConsoleAdministration) async throws -> Int {
    do {
      let records = try await earlier.composition.database.read { try EarlierAccount.all(in: $0) }
      let decisions = try await earlier.composition.database.read {
        try EarlierDecision.all(in: $0)
      }
      var count = 0
      for record in records {
        let isDisabled = try await composition.accounts.takeOver(record)
        count += isDisabled ? 1 : 0
      }
      return try await count + composition.database.write { try Self.decide(decisions, in: $0) }
    } catch {
      throw ConsoleError.database
    }
  }

  private static func decide(_ decisions: [EarlierDecision], in db: Database) throws -> Int {
    try decisions.reduce(0) { count, decision in
      try db.execute(
        sql: """
          UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ?, carried_out_at = ?
          WHERE id = ? AND document = ? AND decision IS NULL
          """,
        arguments: [
          decision.decision, decision.decidedBy, decision.decidedAt, decision.carriedOutAt,
          decision.id, decision.document,
        ])
      return count + db.changesCount
    }
  }
}

/// The decision on a request before the restoration.
private struct EarlierDecision: Sendable {
  let id: Int64
  let document: String
  let decision: String
  let decidedBy: String?
  let decidedAt: Int64?
  let carriedOutAt: Int64?

  static func all(in db: Database) throws -> [EarlierDecision] {
    try Row.fetchAll(db, sql: "SELECT * FROM proposal WHERE decision IS NOT NULL").map {
      EarlierDecision(
        id: $0["id"], document: $0["document"], decision: $0["decision"],
        decidedBy: $0["decided_by"], decidedAt: $0["decided_at"],
        carriedOutAt: $0["carried_out_at"])
    }
  }
}

/// The rights and credentials that an account had before the restoration.
struct EarlierAccount: Sendable {
  let id: Int64
  let nameKey: String
  let role: String
  let passwordHash: String?
  let sealedCodeSecret: Data?
  let lastCodeStep: Int64
  let isDisabled: Bool
  /// The credential ids of the passkeys.
  let passkeys: [Data]

  static func all(in db: Database) throws -> [EarlierAccount] {
    try Row.fetchAll(db, sql: "SELECT * FROM account").map { try EarlierAccount($0, in: db) }
  }

  init(_ row: Row, in db: Database) throws {
    id = row["id"]
    nameKey = row["name_key"]
    role = row["role"]
    passwordHash = row["password_hash"]
    sealedCodeSecret = row["sealed_code_secret"]
    lastCodeStep = row["last_code_step"]
    let disabledAt: Int64? = row["disabled_at"]
    isDisabled = disabledAt != nil
    passkeys = try Data.fetchAll(
      db, sql: "SELECT credential_id FROM passkey WHERE account_id = ?", arguments: [id])
  }
}

extension AccountStore {
  /// Takes over what was taken from an account after the backup.
  ///
  /// - Returns: True if the account was changed.
  func takeOver(_ earlier: EarlierAccount) async throws -> Bool {
    try await database.write { db in
      guard let account = try Self.account(id: earlier.id, in: db),
        AccountName.key(account.name) == earlier.nameKey,
        let row = try Row.fetchOne(
          db, sql: "SELECT * FROM account WHERE id = ?", arguments: [account.id])
      else { return false }
      let present = try EarlierAccount(row, in: db)
      let hasChanged = try takeOverCredentials(of: earlier, by: account, present, in: db)
      guard earlier.isDisabled, !present.isDisabled else { return hasChanged }
      do {
        try setDisabled(true, account, by: AuditEvent.commandLine, in: db)
        return true
      } catch Refusal.lastAdministrator {
        // Another administrator is newer than the backup. Without one, no person could sign in.
        return hasChanged
      }
    }
  }

  private func takeOverCredentials(
    of earlier: EarlierAccount, by account: Account, _ present: EarlierAccount, in db: Database
  ) throws -> Bool {
    let removed = Set(present.passkeys).subtracting(earlier.passkeys)
    guard
      !removed.isEmpty || present.passwordHash != earlier.passwordHash
        || present.sealedCodeSecret != earlier.sealedCodeSecret || present.role != earlier.role
    else { return false }
    try db.execute(
      sql: """
        UPDATE account SET role = ?, password_hash = ?, sealed_code_secret = ?, last_code_step = ?
        WHERE id = ?
        """,
      arguments: [
        earlier.role, earlier.passwordHash, earlier.sealedCodeSecret, earlier.lastCodeStep,
        account.id,
      ])
    for passkey in removed {
      try db.execute(sql: "DELETE FROM passkey WHERE credential_id = ?", arguments: [passkey])
    }
    try audit.append(
      AuditEvent(
        AuditEvent.commandLine, .credentialsSet, account.name,
        detail: "as before the restoration, \(earlier.role)"),
      at: clock.now.unixSecond, in: db)
    return true
  }
}
