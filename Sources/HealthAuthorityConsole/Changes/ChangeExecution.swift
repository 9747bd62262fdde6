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
  }

  /// Carries out `change` for the person who approved it.
  ///
  /// - Throws: `AuthorityFailure`, `AccountStore.Refusal`, or an error of the database; then nothing was changed, as
  ///   far as the console knows.
  func carryOut(_ change: ConsoleChange, by actor: Account) async throws -> Result {
    switch change {
    case .addAPIKey(let name, let kind):
      let text = try await perform(change, by: actor, detail: kind.rawValue) {
        () throws(AuthorityFailure) in try await authority.addAPIKey(kind, name: name)
      }
      return .apiKey(name: name, text: text)
    case .addAccount(let name, let role):
      let token = try await links.makeForNewAccount(name: name, role: role, in: accounts, by: actor)
      return .link(account: name, token: token)
    case .makeLink(let name):
      let account = try await account(name)
      return .link(account: name, token: try await links.make(for: account, by: actor))
    case .disableAccount(let name):
      try await accounts.setDisabled(true, try await account(name), by: actor.name)
    case .enableAccount(let name):
      try await accounts.setDisabled(false, try await account(name), by: actor.name)
    case .pause, .resume, .withdrawFile, .restoreFile: try await instruct(change, by: actor)
    default: try await administer(change, by: actor)
    }
    return .done
  }

  private func account(_ name: String) async throws -> Account {
    guard let account = try await accounts.account(named: name) else {
      throw AuthorityFailure.notFound
    }
    return account
  }

  /// The files that a withdrawal or its end concerns now: the file and its copies.
  func files(of change: ConsoleChange) async throws(AuthorityFailure) -> [KeyFileCopy] {
    switch change {
    case .withdrawFile(let file): return try await authority.copies(of: file)
    case .restoreFile(let file):
      let withdrawn = Set(try await authority.instructions().withdrawn)
      let copies = try await authority.copies(of: file).filter { withdrawn.contains($0.hash) }
      guard copies.isEmpty, withdrawn.contains(file) else { return copies }
      // The file has expired, and only its withdrawal is left.
      return [KeyFileCopy(root: "", region: "", name: "", keyCount: 0, hash: file)]
    default: return []
    }
  }

  private func instruct(_ change: ConsoleChange, by actor: Account) async throws {
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
      let hashes = try await files(of: change).map(\.hash)
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
    try await perform(change, by: actor, detail: Self.detail(of: change)) {
      () throws(AuthorityFailure) in
      switch change {
      case .rotateSigningKey(let server): try await authority.rotateSigningKey(of: server)
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

  private static func detail(of change: ConsoleChange) -> String {
    switch change {
    case .addAuthority(_, _, let keyID, _), .withdrawAuthorityKey(let keyID, _): keyID
    case .addApp(_, let regions, _): regions.joined(separator: ", ")
    default: ""
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
