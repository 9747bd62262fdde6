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
  /// The changes of accounts in its audit log, by the hashes of their entries.
  fileprivate let changes: [Data: AccountChange]

  /// True if the backup has a later change of the same kind.
  fileprivate func supersedes(_ change: AccountChange) -> Bool {
    changes.values.contains {
      $0.account == change.account && $0.isOfState == change.isOfState && $0.time > change.time
    }
  }
}

/// The changes in a console that ran before the restoration.
package struct EarlierConsole: Sendable {
  fileprivate let decisions: [RequestState]
  private let accounts: [AccountState]
  private let hasContinued: Bool
  /// The changes that the audit log of the backup does not have.
  private let changes: [AccountChange]

  fileprivate init(
    in db: ConsoleTransaction, hasContinued: Bool, since backup: AccountsOfBackup
  ) throws {
    decisions = try RequestState.all(in: db)
    accounts = try AccountState.all(in: db)
    self.hasContinued = hasContinued
    changes = try AccountChange.all(in: db).filter { hash, change in
      backup.changes[hash] == nil && (hasContinued || !backup.supersedes(change))
    }.map(\.value)
  }

  /// The account of the backup; nil if there is none here.
  fileprivate func account(_ backup: AccountState) -> EarlierAccount? {
    accounts.first(where: backup.isSame).map { state in
      EarlierAccount(
        state: state, hasContinued: hasContinued,
        changes: changes.filter { $0.account == state.name })
    }
  }
}

extension ConsoleAdministration {
  /// The accounts of a restored console before it takes anything over.
  package func accountsOfBackup() async throws -> AccountsOfBackup {
    do {
      return try await composition.database.read { db in
        AccountsOfBackup(
          states: try AccountState.all(in: db), changes: try AccountChange.all(in: db))
      }
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

  /// The changes of this console, which a restored one takes over.
  ///
  /// - Parameters:
  ///   - backup: The accounts of the backup.
  ///   - hasContinued: True if it is certain that the database of this console has continued after the backup.
  ///     Otherwise only what its audit log has and that of the backup has not was changed after it.
  /// - Throws: `ConsoleError.database`.
  package func changes(
    since backup: AccountsOfBackup, hasContinued: Bool
  ) async throws -> EarlierConsole {
    do {
      return try await composition.database.read {
        try EarlierConsole(in: $0, hasContinued: hasContinued, since: backup)
      }
    } catch {
      throw ConsoleError.database
    }
  }

  /// Disables the accounts that were disabled after the backup, replaces credentials that were replaced, and closes the
  /// requests that were decided. Of several earlier consoles, the newest change of an account counts.
  ///
  /// - Parameters:
  ///   - earlier: The consoles before the restoration.
  ///   - backup: The accounts of the backup: what is as there does not undo what another earlier console has changed.
  /// - Throws: `ConsoleError.database`.
  package func takeOver(
    from earlier: [EarlierConsole], since backup: AccountsOfBackup
  ) async throws -> RestoredAccounts {
    do {
      return try await composition.accounts.takeOver(earlier, since: backup)
    } catch {
      throw ConsoleError.database
    }
  }
}

extension AccountStore {
  fileprivate func takeOver(
    _ earlier: [EarlierConsole], since backup: AccountsOfBackup
  ) async throws -> RestoredAccounts {
    try await database.write { db in
      var taken = RestoredAccounts()
      for restored in backup.states {
        guard let account = try Self.account(id: restored.id, in: db) else { continue }
        let states = earlier.compactMap { $0.account(restored) }
        if try takeOverCredentials(states, since: restored, of: account, in: db) {
          taken.changed.append(account.name)
        }
        if !account.isDisabled, states.isDisabled { try disable(account, &taken, in: db) }
      }
      for decision in earlier.flatMap(\.decisions) {
        if try takeOver(decision, in: db) { taken.decidedRequests += 1 }
      }
      return taken
    }
  }

  private func disable(
    _ account: Account, _ taken: inout RestoredAccounts, in db: ConsoleTransaction
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
    _ earlier: [EarlierAccount], since backup: AccountState, of account: Account,
    in db: ConsoleTransaction
  ) throws -> Bool {
    let newest = earlier.filter { $0.hasNewPassword(since: backup) }
      .max { $0.passwordChangedAt < $1.passwordChangedAt }
    let removed = earlier.reduce(Set<Data>()) { $0.union($1.removedPasskeys(since: backup)) }
    guard newest != nil || !removed.isEmpty else { return false }
    if let newest = newest?.state {
      try db.execute(
        sql: """
          UPDATE account
          SET password_hash = ?, sealed_code_secret = ?, last_code_step = ?, circle = ? WHERE id = ?
          """,
        arguments: [
          newest.passwordHash, newest.sealedCodeSecret, newest.lastCodeStep, newest.circle,
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
  private func takeOver(_ decision: RequestState, in db: ConsoleTransaction) throws -> Bool {
    let changed = try db.change(
      sql: """
        UPDATE proposal SET decision = ?, decided_by = ?, decided_at = ?, carried_out_at = ?
        WHERE id = ? AND document = ? AND decision IS NULL
        """,
      arguments: [
        decision.decision, decision.decidedBy, decision.decidedAt, decision.carriedOutAt,
        decision.id, decision.document,
      ])
    guard changed > 0 else { return false }
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
  let name: String
  private let handle: Data
  let passwordHash: String?
  let sealedCodeSecret: Data?
  let lastCodeStep: Int64
  let circle: Int64
  let isDisabled: Bool
  /// The credential ids of the passkeys.
  let passkeys: Set<Data>

  static func all(in db: ConsoleTransaction) throws -> [AccountState] {
    try db.rows(sql: "SELECT * FROM account ORDER BY id").map {
      try AccountState($0, in: db)
    }
  }

  private init(_ row: Row, in db: ConsoleTransaction) throws {
    id = row["id"]
    name = row["name"]
    handle = row["handle"]
    passwordHash = row["password_hash"]
    sealedCodeSecret = row["sealed_code_secret"]
    lastCodeStep = row["last_code_step"]
    circle = row["circle"]
    let disabledAt: Int64? = row["disabled_at"]
    isDisabled = disabledAt != nil
    let rows = try db.rows(
      sql: "SELECT credential_id FROM passkey WHERE account_id = ?", arguments: [id])
    passkeys = Set(rows.map { row -> Data in row["credential_id"] })
  }

  /// The handle is random: another account of the same name and number has another one.
  func isSame(as other: AccountState) -> Bool { id == other.id && handle == other.handle }

  /// True if the password and the code generator were not replaced, and the account is in the same circle.
  func hasPassword(of other: AccountState) -> Bool {
    passwordHash == other.passwordHash && sealedCodeSecret == other.sealedCodeSecret
      && circle == other.circle
  }
}

/// An account of an earlier console, with its changes after the backup.
private struct EarlierAccount {
  let state: AccountState
  let hasContinued: Bool
  let changes: [AccountChange]

  /// The time of the last password that was set after the backup; 0 if the log has none.
  var passwordChangedAt: Int64 { time(of: [.credentialsSet]) }

  /// The time at which the account was last disabled or enabled after the backup; 0 if the log has neither.
  var stateChangedAt: Int64 { time(of: [.accountDisabled, .accountEnabled]) }

  /// True if the account has been disabled or enabled after the backup.
  var hasNewState: Bool {
    hasContinued ? stateChangedAt > 0 || state.isDisabled : stateChangedAt > 0
  }

  func hasNewPassword(since backup: AccountState) -> Bool {
    !backup.hasPassword(of: state) && (hasContinued || passwordChangedAt > 0)
  }

  func removedPasskeys(since backup: AccountState) -> Set<Data> {
    guard hasContinued || time(of: [.credentialsSet, .passkeyRemoved]) > 0 else { return [] }
    return backup.passkeys.subtracting(state.passkeys)
  }

  private func time(of actions: Set<AuditAction>) -> Int64 {
    changes.filter { actions.contains($0.action) }.map(\.time).max() ?? 0
  }
}

extension [EarlierAccount] {
  /// True if the newest change is that the account was disabled.
  fileprivate var isDisabled: Bool {
    let changed = filter(\.hasNewState)
    let last = changed.map(\.stateChangedAt).max()
    return changed.contains { $0.stateChangedAt == last && $0.state.isDisabled }
  }
}

/// An entry of the audit log about the state or the credentials of an account.
private struct AccountChange: Sendable {
  let time: Int64
  let action: AuditAction
  /// The name of the account.
  let account: String

  /// False for a change of the credentials.
  var isOfState: Bool { action == .accountDisabled || action == .accountEnabled }

  /// The changes in the log, by the hashes of their entries.
  static func all(in db: ConsoleTransaction) throws -> [Data: AccountChange] {
    let actions: [AuditAction] = [
      .accountDisabled, .accountEnabled, .credentialsSet, .passkeyRemoved,
    ]
    var changes: [Data: AccountChange] = [:]
    for action in actions {
      // A passkey is removed by the account itself, and is the subject.
      let account = action == .passkeyRemoved ? "actor" : "subject"
      let rows = try db.rows(
        sql: "SELECT time, \(account) AS account, hash FROM audit WHERE action = ?",
        arguments: [action.rawValue])
      for row in rows {
        changes[row["hash"]] = AccountChange(
          time: row["time"], action: action, account: row["account"])
      }
    }
    return changes
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

  static func all(in db: ConsoleTransaction) throws -> [RequestState] {
    try db.rows(sql: "SELECT * FROM proposal WHERE decision IS NOT NULL ORDER BY id").map {
      RequestState(
        id: $0["id"], kind: ($0["kind"] as String?) ?? Proposal.Kind.configuration.rawValue,
        document: $0["document"], decision: $0["decision"], decidedBy: $0["decided_by"],
        decidedAt: $0["decided_at"], carriedOutAt: $0["carried_out_at"])
    }
  }
}
