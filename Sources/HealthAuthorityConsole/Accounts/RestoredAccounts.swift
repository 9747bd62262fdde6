// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The changes that a restored console takes over from the earlier one: credentials that were replaced after the backup
/// must not be valid again.
package struct RestoredAccounts: Sendable {
  /// The accounts that were disabled after the backup, and are disabled again.
  package fileprivate(set) var disabled: [String] = []
  /// Administrators that were disabled after the backup and are not now: no other administrator would be left.
  package fileprivate(set) var lastAdministrators: [String] = []
  /// Accounts whose password, code generator or passkeys were replaced or removed after the backup, and are so again.
  /// Passkeys that were added after it are lost.
  package fileprivate(set) var changed: [String] = []
  /// The number of requests that were decided after the backup.
  package fileprivate(set) var decidedRequests = 0
}

/// The accounts of a backup, with which those of earlier folders are compared.
package struct AccountsOfBackup: Sendable {
  fileprivate let states: [AccountState]
}

extension ConsoleAdministration {
  /// The accounts of a restored console before it takes anything over.
  package func accountsOfBackup() async throws -> AccountsOfBackup {
    do {
      return AccountsOfBackup(
        states: try await composition.database.read { try AccountState.all(in: $0) })
    } catch {
      throw ConsoleError.database
    }
  }

  /// Ends all sessions and links.
  package func endSessions() async throws {
    try await composition.database.write { db in
      for table in ["session", "link"] { try db.execute(sql: "DELETE FROM \(table)") }
    }
  }

  /// Disables the accounts that were disabled after the backup, replaces credentials that were replaced, and closes the
  /// requests that were decided.
  ///
  /// - Parameters:
  ///   - earlier: The console before the restoration, which has continued after the backup.
  ///   - backup: The accounts of the backup: what is as there does not undo what another earlier console has changed.
  /// - Throws: `ConsoleError.database`.
  package func takeOver(
    from earlier: ConsoleAdministration, since backup: AccountsOfBackup
  ) async throws -> RestoredAccounts {
    do {
      let accounts = try await earlier.composition.database.read { try AccountState.all(in: $0) }
      let decisions = try await earlier.composition.database.read { try RequestState.all(in: $0) }
      return try await composition.accounts.takeOver(accounts, decisions, since: backup)
    } catch {
      throw ConsoleError.database
    }
  }
}

extension AccountStore {
  fileprivate func takeOver(
    _ accounts: [AccountState], _ decisions: [RequestState], since backup: AccountsOfBackup
  ) async throws -> RestoredAccounts {
    try await database.write { db in
      var taken = RestoredAccounts()
      for restored in backup.states {
        guard let earlier = accounts.first(where: restored.isSame(as:)),
          let account = try Self.account(id: restored.id, in: db), !account.isDisabled
        else { continue }
        if try takeOverCredentials(earlier, since: restored, of: account, in: db) {
          taken.changed.append(account.name)
        }
        if earlier.isDisabled { try disable(account, &taken, in: db) }
      }
      for decision in decisions {
        if try takeOver(decision, in: db) { taken.decidedRequests += 1 }
      }
      return taken
    }
  }

  private func disable(
    _ account: Account, _ taken: inout RestoredAccounts, in db: Database
  ) throws {
    do {
      try setDisabled(true, account, by: AuditEvent.commandLine, in: db)
      taken.disabled.append(account.name)
    } catch Refusal.lastAdministrator {
      taken.lastAdministrators.append(account.name)
    }
  }

  /// The circle comes with the password: it says who could have set it.
  ///
  /// - Returns: True if a credential was replaced or removed after the backup.
  private func takeOverCredentials(
    _ earlier: AccountState, since backup: AccountState, of account: Account, in db: Database
  ) throws -> Bool {
    let hasPassword = backup.hasPassword(of: earlier)
    let removed = backup.passkeys.subtracting(earlier.passkeys)
    guard !hasPassword || !removed.isEmpty else { return false }
    if !hasPassword {
      try db.execute(
        sql: """
          UPDATE account
          SET password_hash = ?, sealed_code_secret = ?, last_code_step = ?, circle = ? WHERE id = ?
          """,
        arguments: [
          earlier.passwordHash, earlier.sealedCodeSecret, earlier.lastCodeStep, earlier.circle,
          account.id,
        ])
    }
    for passkey in removed {
      try db.execute(sql: "DELETE FROM passkey WHERE credential_id = ?", arguments: [passkey])
    }
    try audit.append(
      AuditEvent(
        AuditEvent.commandLine, .credentialsSet, account.name, detail: "as before the restoration"),
      at: clock.now.unixSecond, in: db)
    return true
  }

  /// - Returns: True if the request is open in the backup.
  private func takeOver(_ decision: RequestState, in db: Database) throws -> Bool {
    try db.execute(
      sql: """
        UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ?, carried_out_at = ?
        WHERE id = ? AND document = ? AND decision IS NULL
        """,
      arguments: [
        decision.decision, decision.decidedBy, decision.decidedAt, decision.carriedOutAt,
        decision.id, decision.document,
      ])
    guard db.changesCount > 0 else { return false }
    let isConfiguration = decision.kind == Proposal.Kind.configuration.rawValue
    let action: AuditAction =
      switch (isConfiguration, decision.decision) {
      case (true, "approved"): .approved
      case (true, _): .rejected
      case (false, "approved"), (false, "alone"): .changeApproved
      case (false, _): .changeRejected
      }
    try audit.append(
      AuditEvent(
        AuditEvent.commandLine, action,
        "\(isConfiguration ? "proposal" : "change") \(decision.id)",
        detail: "\(decision.decision) by \(decision.decidedBy ?? "") before the restoration"),
      at: clock.now.unixSecond, in: db)
    return true
  }
}

/// The credentials of an account, before the restoration or in the backup.
private struct AccountState: Sendable {
  let id: Int64
  private let handle: Data
  let passwordHash: String?
  let sealedCodeSecret: Data?
  let lastCodeStep: Int64
  let circle: Int64
  let isDisabled: Bool
  /// The credential ids of the passkeys.
  let passkeys: Set<Data>

  static func all(in db: Database) throws -> [AccountState] {
    try Row.fetchAll(db, sql: "SELECT * FROM account ORDER BY id").map {
      try AccountState($0, in: db)
    }
  }

  private init(_ row: Row, in db: Database) throws {
    id = row["id"]
    handle = row["handle"]
    passwordHash = row["password_hash"]
    sealedCodeSecret = row["sealed_code_secret"]
    lastCodeStep = row["last_code_step"]
    circle = row["circle"]
    let disabledAt: Int64? = row["disabled_at"]
    isDisabled = disabledAt != nil
    let ids = try Data.fetchAll(
      db, sql: "SELECT credential_id FROM passkey WHERE account_id = ?", arguments: [id])
    passkeys = Set(ids)
  }

  /// The handle is random: another account of the same name and number has another one.
  func isSame(as other: AccountState) -> Bool { id == other.id && handle == other.handle }

  /// True if the password and the code generator were not replaced, and the account is in the same circle.
  func hasPassword(of other: AccountState) -> Bool {
    passwordHash == other.passwordHash && sealedCodeSecret == other.sealedCodeSecret
      && circle == other.circle
  }
}

/// A request that was decided before the restoration.
private struct RequestState: Sendable {
  let id: Int64
  let kind: String
  let document: String
  let decision: String
  let decidedBy: String?
  let decidedAt: Int64?
  let carriedOutAt: Int64?

  static func all(in db: Database) throws -> [RequestState] {
    try Row.fetchAll(db, sql: "SELECT * FROM proposal WHERE decision IS NOT NULL ORDER BY id").map {
      RequestState(
        id: $0["id"], kind: ($0["kind"] as String?) ?? Proposal.Kind.configuration.rawValue,
        document: $0["document"], decision: $0["decision"], decidedBy: $0["decided_by"],
        decidedAt: $0["decided_at"], carriedOutAt: $0["carried_out_at"])
    }
  }
}
