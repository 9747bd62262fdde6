// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// The revocations that a restored console takes over from the earlier one. Passwords, code generators, passkeys and
/// roles are not taken over: who has them after the backup is for the operator to say.
package struct RestoredAccounts: Sendable {
  /// The accounts that were disabled after the backup, and are disabled again.
  package fileprivate(set) var disabled: [String] = []
  /// Administrators that were disabled after the backup and are not now: no other administrator would be left.
  package fileprivate(set) var lastAdministrators: [String] = []
  /// Accounts whose credentials or role were changed after the backup, and are those of the backup again.
  package fileprivate(set) var changed: [String] = []
  /// The number of requests that were decided after the backup.
  package fileprivate(set) var decidedRequests = 0
}

extension ConsoleAdministration {
  /// Ends all sessions and links.
  package func endSessions() async throws {
    try await composition.database.write { db in
      for table in ["session", "link"] { try db.execute(sql: "DELETE FROM \(table)") }
    }
  }

  /// Disables the accounts that were disabled after the backup, and closes the requests that were decided.
  ///
  /// - Parameter earlier: The console before the restoration, which has continued after the backup.
  /// - Throws: `ConsoleError.database`.
  package func takeOver(from earlier: ConsoleAdministration) async throws -> RestoredAccounts {
    do {
      let accounts = try await earlier.composition.database.read { try AccountState.all(in: $0) }
      let decisions = try await earlier.composition.database.read { try RequestState.all(in: $0) }
      return try await composition.accounts.takeOver(accounts, decisions)
    } catch {
      throw ConsoleError.database
    }
  }
}

extension AccountStore {
  fileprivate func takeOver(
    _ accounts: [AccountState], _ decisions: [RequestState]
  ) async throws -> RestoredAccounts {
    try await database.write { db in
      var taken = RestoredAccounts()
      for restored in try AccountState.all(in: db) {
        guard let earlier = accounts.first(where: restored.isSame(as:)) else { continue }
        try takeOver(earlier, by: restored, &taken, in: db)
      }
      for decision in decisions {
        if try takeOver(decision, in: db) { taken.decidedRequests += 1 }
      }
      return taken
    }
  }

  private func takeOver(
    _ earlier: AccountState, by restored: AccountState, _ taken: inout RestoredAccounts,
    in db: Database
  ) throws {
    guard !restored.isDisabled, let account = try Self.account(id: restored.id, in: db) else {
      return
    }
    guard earlier.isDisabled else {
      if !restored.hasCredentials(of: earlier) { taken.changed.append(account.name) }
      return
    }
    do {
      try setDisabled(true, account, by: AuditEvent.commandLine, in: db)
      taken.disabled.append(account.name)
    } catch Refusal.lastAdministrator {
      taken.lastAdministrators.append(account.name)
    }
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

/// The rights and credentials of an account, before the restoration or in the backup.
private struct AccountState: Sendable {
  let id: Int64
  private let nameKey: String
  private let role: String
  private let passwordHash: String?
  private let sealedCodeSecret: Data?
  let isDisabled: Bool
  /// The credential ids of the passkeys.
  private let passkeys: Set<Data>

  static func all(in db: Database) throws -> [AccountState] {
    try Row.fetchAll(db, sql: "SELECT * FROM account ORDER BY id").map {
      try AccountState($0, in: db)
    }
  }

  private init(_ row: Row, in db: Database) throws {
    id = row["id"]
    nameKey = row["name_key"]
    role = row["role"]
    passwordHash = row["password_hash"]
    sealedCodeSecret = row["sealed_code_secret"]
    let disabledAt: Int64? = row["disabled_at"]
    isDisabled = disabledAt != nil
    let ids = try Data.fetchAll(
      db, sql: "SELECT credential_id FROM passkey WHERE account_id = ?", arguments: [id])
    passkeys = Set(ids)
  }

  func isSame(as other: AccountState) -> Bool { id == other.id && nameKey == other.nameKey }

  /// True if no credential was replaced or removed, and the role is the same.
  func hasCredentials(of other: AccountState) -> Bool {
    role == other.role && passwordHash == other.passwordHash
      && sealedCodeSecret == other.sealedCodeSecret && passkeys.isSubset(of: other.passkeys)
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
