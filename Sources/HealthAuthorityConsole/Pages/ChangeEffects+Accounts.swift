// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The effects of changes of accounts.
extension ChangeEffects {
  func describeAccounts(
    _ added: [NewAccount], _ texts: Texts, _ effect: inout ChangeEffect
  ) async throws {
    for account in added {
      guard AccountName.checked(account.name, ConsoleLimit.nameCharacters) == account.name else {
        throw AuthorityFailure.refused(texts[.accountBadName])
      }
      try await refusing(texts) { try await accounts.check(name: account.name) }
    }
    guard !added.isEmpty, added.count <= ConsoleLimit.importedAccountsMax else {
      throw AuthorityFailure.refused(
        texts[.batchTooMany, "\(ConsoleLimit.importedAccountsMax)"])
    }
    effect.sentences =
      [texts[.effectAddAccounts, "\(added.count)"]]
      + added.map { "\($0.name), \(texts[$0.role.textKey])" }
  }

  func describeAccount(
    _ change: ConsoleChange, _ texts: Texts, _ effect: inout ChangeEffect
  ) async throws {
    if case .addAccount(let name, let role) = change {
      guard AccountName.checked(name, ConsoleLimit.nameCharacters) == name else {
        throw AuthorityFailure.refused(texts[.accountBadName])
      }
      try await refusing(texts) { try await accounts.check(name: name) }
      effect.sentences = [
        texts[.effectAddAccount, texts[role.textKey]], texts[.effectSecret, name],
      ]
      return
    }
    guard let name = change.account, let account = try await accounts.account(named: name) else {
      throw AuthorityFailure.notFound
    }
    let counts = try await accounts.counts(of: account)
    let isEnabling = if case .enableAccount = change { true } else { false }
    guard account.isDisabled == isEnabling else {
      throw AuthorityFailure.refused(
        texts[isEnabling ? .changeAccountEnabled : .changeAccountDisabled, account.name])
    }
    effect.facts += ["\(account.id)", account.name, account.role.rawValue]
    switch change {
    case .makeLink:
      effect.sentences = [
        texts[.effectLink, "\(counts.sessions)", "\(counts.passkeys)"],
        texts[.effectSecret, account.name],
      ]
    case .disableAccount:
      try await refusing(texts) { try await accounts.checkDisabling(account) }
      effect.sentences = [texts[.effectDisable, "\(counts.sessions)"]]
    default: effect.sentences = [texts[.effectEnable, "\(counts.passkeys)"]]
    }
  }

  /// Runs `work` and gives the reasons of the accounts as sentences.
  func refusing<Value>(_ texts: Texts, _ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let refusal as AccountStore.Refusal {
      switch refusal {
      case .lastAdministrator: throw AuthorityFailure.refused(texts[.accountLast])
      case .looksAlike(let other): throw AuthorityFailure.refused(texts[.accountLooksAlike, other])
      case .tooMany: throw AuthorityFailure.refused(texts[.accountTooMany])
      case .nameTaken: throw AuthorityFailure.refused(texts[.accountBadName])
      }
    }
  }
}
