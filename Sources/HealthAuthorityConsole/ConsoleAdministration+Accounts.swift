// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The changes of accounts by the operator, who needs no second person.
extension ConsoleAdministration {
  /// A random password and a code generator, to be shown and to be stored.
  func newCredentials(
    name: String, role: Role
  ) async throws -> (shown: Credentials, stored: AccountStore.Credentials) {
    let password = CodeGenerator.base32(randomness.bytes(15)).lowercased()
    let generator = CodeGenerator(randomness: randomness)
    let hash = try await composition.passwordChecks().withPlace(isFirst: true) {
      try await $0.hash(password)
    }
    let shown = Credentials(
      name: name, role: role, password: password, codeSecret: generator.typedSecret,
      codeAddress: generator.address(account: name, issuer: "Firebreak"))
    return (shown, AccountStore.Credentials(password: hash, generator: generator, lastStep: 0))
  }

  /// Sets a new password and a new code generator for an account, whose passkeys, sessions and link end.
  ///
  /// - Throws: `ConsoleError.configuration` if there is no such account; `.database`.
  package func recoverAccount(name: String) async throws -> Credentials {
    let account = try await account(name)
    let (shown, stored) = try await newCredentials(name: account.name, role: account.role)
    try await storing {
      try await composition.accounts.replaceCredentials(
        of: account, with: stored, by: AuditEvent.commandLine)
    }
    return shown
  }

  /// Disables an account and ends its sessions, or enables it again.
  ///
  /// - Throws: `ConsoleError.configuration` if there is no such account, or no administrator would be left;
  ///   `.database`.
  package func setAccount(name: String, isDisabled: Bool) async throws {
    let account = try await account(name)
    try await storing {
      try await composition.accounts.setDisabled(
        isDisabled, account, by: AuditEvent.commandLine)
    }
  }

  private func account(_ name: String) async throws -> Account {
    let account = try await storing { try await composition.accounts.account(named: name) }
    guard let account else {
      throw ConsoleError.configuration("There is no account \(name): check the spelling of --name.")
    }
    return account
  }

  private func storing<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch AccountStore.Refusal.lastAdministrator {
      throw ConsoleError.configuration(
        "The last administrator cannot be disabled: add another one first.")
    } catch {
      throw ConsoleError(storing: error)
    }
  }
}
