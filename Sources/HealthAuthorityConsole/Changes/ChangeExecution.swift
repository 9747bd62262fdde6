// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// Carries out changes that were approved, each with its entry in the audit log.
struct ChangeExecution: Sendable {
  let authority: any AdministeredAuthority
  let actions: AuditedActions
  let accounts: AccountStore
  let links: AccountLinks
  /// The clock of the servers.
  let clock: any WallClock

  /// The result of a change. A secret is shown once, to the person who approved.
  enum Result: Sendable {
    case done
    case apiKey(name: String, text: String)
    case link(account: String, token: String)
    case links([(account: String, token: String)])
  }

  /// The work of a change of accounts, and what it results in.
  struct AccountWork: Sendable {
    let result: Result
    let run: @Sendable (ConsoleTransaction) throws -> Void
  }

  /// The work of a change of accounts, for the transaction of its approval; nil for other changes.
  ///
  /// - Parameter id: The account that the change concerns.
  func accountWork(_ change: ConsoleChange, of id: Int64?, by actor: Account) -> AccountWork? {
    switch change {
    case .addAccount(let name, let role):
      let (token, handle, now) = (links.newToken(), accounts.newHandle(), accounts.clock.now)
      return AccountWork(result: .link(account: name, token: token)) { db in
        let account = try accounts.insert(
          name: name, role: role, handle: handle, by: actor.name, at: now.unixSecond, in: db)
        try links.store(token, for: account, by: actor, in: db)
      }
    case .addAccounts(let added):
      let now = accounts.clock.now
      let invited = added.map { account in
        (account: account, token: links.newToken(), handle: accounts.newHandle())
      }
      return AccountWork(result: .links(invited.map { ($0.account.name, $0.token) })) { db in
        for (new, token, handle) in invited {
          let account = try accounts.insert(
            name: new.name, role: new.role, handle: handle, by: actor.name, at: now.unixSecond,
            in: db)
          try links.store(token, for: account, by: actor, in: db)
        }
      }
    case .makeLink(let name):
      let token = links.newToken()
      return AccountWork(result: .link(account: name, token: token)) { db in
        try links.store(token, for: try Self.account(id, in: db), by: actor, in: db)
      }
    case .disableAccount, .enableAccount:
      return AccountWork(result: .done) { db in
        try accounts.setDisabled(
          change.isUrgent, try Self.account(id, in: db), by: actor.name, in: db)
      }
    default: return nil
    }
  }

  private static func account(_ id: Int64?, in db: ConsoleTransaction) throws -> Account {
    guard let id, let account = try AccountStore.account(id: id, in: db) else {
      throw AuthorityFailure.notFound
    }
    return account
  }

  /// Carries out a change of another server for the person who approved it.
  ///
  /// - Parameter files: The files of a withdrawal or its end, as the person saw them.
  /// - Throws: `AuthorityFailure`, or an error of the database.
  func carryOut(
    _ change: ConsoleChange, files: [KeyFileHash], by actor: Account
  ) async throws -> Result {
    switch change {
    case .addAPIKey(let name, let kind):
      let text = try await perform(change, by: actor, detail: change.detail) {
        () throws(AuthorityFailure) in try await authority.addAPIKey(kind, name: name)
      }
      return .apiKey(name: name, text: text)
    case .pause, .resume, .withdrawFile, .restoreFile:
      try await instruct(change, files: files, by: actor)
    default: try await administer(change, by: actor)
    }
    return .done
  }

  private func instruct(
    _ change: ConsoleChange, files hashes: [KeyFileHash], by actor: Account
  ) async throws {
    switch change {
    case .pause(let hours):
      let until = hours.map { clock.now.addingTimeInterval(TimeInterval($0) * 3_600) }
      let detail = until.map { "until \($0.unixSecond)" } ?? "until resumed"
      try await perform(change, by: actor, detail: detail) { () throws(AuthorityFailure) in
        try await authority.pause(until: until)
      }
    case .resume:
      try await perform(change, by: actor) { () throws(AuthorityFailure) in
        try await authority.resume()
      }
    default:
      let detail = "\(hashes.count) files: " + hashes.map(\.description).joined(separator: " ")
      try await perform(change, by: actor, detail: detail) { () throws(AuthorityFailure) in
        if case .withdrawFile = change {
          try await authority.withdraw(hashes)
        } else {
          try await authority.restore(hashes)
        }
      }
    }
  }

  private func administer(_ change: ConsoleChange, by actor: Account) async throws {
    try await perform(change, by: actor, detail: change.detail) {
      () throws(AuthorityFailure) in
      switch change {
      case .rotateSigningKey(let server): try await authority.rotateSigningKey(of: server)
      case .setCodeRules(let values): try await authority.set(values)
      case .revokeAPIKey(let id): try await authority.revokeAPIKey(id)
      case .addAuthority(let issuer, let audience, let keyID, let pem):
        let facts = AuthorityFacts(issuer: issuer, audience: audience, keyIDs: [keyID])
        try await authority.add(facts, publicKeyPEM: pem)
      case .removeAuthority(let issuer): try await authority.removeAuthority(issuer)
      case .withdrawAuthorityKey(let keyID, let issuer):
        try await authority.withdrawKey(keyID, of: issuer)
      case .addApp(let id, let regions, let authorities):
        try await authority.add(AppFacts(id: id, regions: regions, authorities: authorities))
      case .removeApp(let id): try await authority.removeApp(id)
      default: break
      }
    }
  }

  private func perform<Value: Sendable>(
    _ change: ConsoleChange, by actor: Account, detail: String = "",
    _ work: () async throws(AuthorityFailure) -> Value
  ) async throws -> Value {
    let record = change.record
    return try await actions.perform(
      AuditEvent(actor.name, record.action, record.subject, detail: detail), work)
  }
}
