import Foundation
import GRDB
import World

/// The sign-in with a password and a one-time code, with a lock after too many failures.
///
/// A name without an account is treated as one with an account, so that neither the response nor its timing reveals
/// which names exist. A locked name can still sign in with a passkey, so that an attacker cannot lock its holder out.
struct SignIn: Sendable {
  let accounts: AccountStore
  let passwords: PasswordChecks

  /// The outcome of an attempt.
  enum Outcome: Sendable {
    case signedIn(Account)
    /// The name, the password or the code is wrong.
    case wrong
    /// Too many attempts with the name have failed.
    case locked(seconds: Int64)
  }

  /// Tries to sign in. Attempts are counted in a transaction before the check, so that concurrent ones cannot exceed
  /// the limit.
  func attempt(name: String, password: String, code: String) async throws -> Outcome {
    let now = accounts.clock.now.unixSecond
    let nameHash = accounts.keys.code(of: Data(AccountName.key(name).utf8), for: .name)
    if let seconds = try await countFailure(nameHash, at: now) { return .locked(seconds: seconds) }
    let account = try await accounts.account(named: name)
    let credentials =
      if let account, !account.isDisabled { try await accounts.credentials(of: account) } else {
        nil as AccountStore.Credentials?
      }
    let isPassword = try await passwords.matches(password, credentials?.password)
    let step = credentials?.generator.step(
      of: code, at: now, after: credentials?.lastStep ?? 0, stepsOff: ConsoleLimit.codeStepsOff)
    guard isPassword, let account, let step, try await accounts.useStep(step, of: account) else {
      return .wrong
    }
    try await forgetFailures(nameHash)
    return .signedIn(account)
  }

  /// Counts the attempt as failed until it has succeeded; returns the seconds to wait if the name is locked.
  private func countFailure(_ nameHash: Data, at now: Int64) async throws -> Int64? {
    let window = Int64(ConsoleLimit.signInWindowSeconds)
    return try await accounts.database.write { db in
      try db.execute(
        sql: "DELETE FROM sign_in_failure WHERE at <= ? OR at > ?", arguments: [now - window, now])
      let times = try Int64.fetchAll(
        db, sql: "SELECT at FROM sign_in_failure WHERE name_hash = ? ORDER BY at",
        arguments: [nameHash])
      if times.count >= ConsoleLimit.signInFailuresMax {
        return max(1, (times.first ?? now) + window - now)
      }
      try db.execute(
        sql: "INSERT INTO sign_in_failure (name_hash, at) VALUES (?, ?)",
        arguments: [nameHash, now])
      return nil
    }
  }

  private func forgetFailures(_ nameHash: Data) async throws {
    try await accounts.database.write {
      try $0.execute(
        sql: "DELETE FROM sign_in_failure WHERE name_hash = ?", arguments: [nameHash])
    }
  }
}
