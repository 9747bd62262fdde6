// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The effect of a change in words.
struct ChangeEffect: Sendable {
  let title: String
  var sentences: [String] = []

  /// The values for templates.
  var values: [String: Any] {
    ["title": title, "sentences": sentences.map { ["text": $0] }]
  }
}

/// Describes the effect of changes with the present numbers of phones, files, uploads and sessions that they concern,
/// and refuses those that are not possible.
struct ChangeEffects: Sendable {
  let authority: any AdministeredAuthority
  let accounts: AccountStore
  let execution: ChangeExecution
  /// The clock of the servers.
  let clock: any WallClock

  /// The effect of `change` if it were carried out now.
  ///
  /// - Throws: `AuthorityFailure` with the reason if it is not possible.
  func effect(of change: ConsoleChange, _ texts: Texts) async throws -> ChangeEffect {
    var effect = ChangeEffect(title: try await title(of: change, texts))
    switch change {
    case .pause, .resume, .withdrawFile, .restoreFile:
      effect.sentences = try await phones(change, texts)
    case .addAccount, .makeLink, .disableAccount, .enableAccount:
      effect.sentences = try await account(change, texts)
    case .addAuthority, .removeAuthority, .withdrawAuthorityKey:
      effect.sentences = try await registry(change, texts)
    case .addApp, .removeApp: effect.sentences = try await app(change, texts)
    default: effect.sentences = try await keys(change, texts)
    }
    return effect
  }

  /// The change in a few words, also if it is not possible any more.
  func title(of change: ConsoleChange, _ texts: Texts) async throws -> String {
    switch change {
    case .rotateSigningKey(let server):
      texts[.changeRotate, texts[server == .keys ? .keysOfKeys : .keysOfVerification]]
    case .addAPIKey(let name, let kind): texts[.changeAddAPIKey, name, kind.rawValue]
    case .revokeAPIKey(let id): texts[.changeRevokeAPIKey, try await apiKey(id)?.name ?? id]
    case .addAuthority(let issuer, _, let keyID, _): texts[.changeAddAuthority, issuer, keyID]
    case .removeAuthority(let issuer): texts[.changeRemoveAuthority, issuer]
    case .withdrawAuthorityKey(let keyID, let issuer): texts[.changeWithdrawKey, issuer, keyID]
    case .addApp(let id, _, _): texts[.changeAddApp, id]
    case .removeApp(let id): texts[.changeRemoveApp, id]
    case .pause(let hours?): texts[.changePause, "\(hours)"]
    case .pause(nil): texts[.changePauseOpen]
    case .resume: texts[.changeResume]
    case .withdrawFile(let file): texts[.changeWithdrawFile, try await name(of: file)]
    case .restoreFile(let file): texts[.changeRestoreFile, try await name(of: file)]
    case .addAccount(let name, let role): texts[.changeAddAccount, name, texts[role.textKey]]
    case .makeLink(let account): texts[.changeMakeLink, account]
    case .disableAccount(let account): texts[.changeDisable, account]
    case .enableAccount(let account): texts[.changeEnable, account]
    }
  }

  private func apiKey(_ id: String) async throws(AuthorityFailure) -> APIKeyFacts? {
    try await authority.apiKeys().first { $0.id == id }
  }

  private func name(of file: KeyFileHash) async throws(AuthorityFailure) -> String {
    try await authority.copies(of: file).first { $0.hash == file }?.name ?? "\(file)"
  }

  // MARK: - Phones

  private func phones(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    switch change {
    case .pause(let hours): return [try await pause(hours, texts)]
    case .resume:
      guard try await isPaused else { throw AuthorityFailure.refused(texts[.changeNotPaused]) }
      return [texts[.effectResume]]
    default: return try await files(change, texts)
    }
  }

  private var isPaused: Bool {
    get async throws(AuthorityFailure) {
      guard let pause = try await authority.instructions().pause else { return false }
      return pause.until.map { $0 > clock.now.unixSecond } ?? true
    }
  }

  private func pause(_ hours: Int?, _ texts: Texts) async throws -> String {
    if let hours, !ConsoleLimit.pauseHours.contains(hours) {
      throw AuthorityFailure.refused(texts[.phonesBadHours])
    }
    let until = hours.map { clock.now.unixSecond + Int64($0) * 3_600 }
    let present = try await isPaused ? try await authority.instructions().pause : nil
    if let present, present.until.map({ $0 >= until ?? .max }) ?? true {
      // The other pause would become shorter, which is a resumption.
      throw AuthorityFailure.refused(
        present.until.map { texts[.changePausedUntil, Visit.text($0)] }
          ?? texts[.changePausedOpen])
    }
    return until.map { texts[.effectPause, Visit.text($0)] } ?? texts[.effectPauseOpen]
  }

  private func files(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    let files = try await execution.files(of: change)
    let withdrawn = Set(try await authority.instructions().withdrawn)
    guard case .withdrawFile = change else {
      guard !files.isEmpty else { throw AuthorityFailure.refused(texts[.changeNotWithdrawn]) }
      return [texts[.effectRestore, "\(files.count)"]] + files.map { text($0, texts) }
    }
    guard !files.isEmpty else { throw AuthorityFailure.refused(texts[.changeUnknownFile]) }
    guard files.contains(where: { !withdrawn.contains($0.hash) }) else {
      throw AuthorityFailure.refused(texts[.changeWithdrawn])
    }
    let keys = files.reduce(0) { $0 + $1.keyCount }
    return [texts[.effectWithdraw, "\(files.count)", "\(keys)"]] + files.map { text($0, texts) }
  }

  private func text(_ file: KeyFileCopy, _ texts: Texts) -> String {
    guard !file.name.isEmpty else { return texts[.effectExpiredFile, "\(file.hash)"] }
    let root = file.root.isEmpty ? texts[.exportsFirst] : file.root
    let export = texts[.exportsName, root, file.region]
    return texts[.effectFile, export, file.name, "\(file.keyCount)"]
  }

  // MARK: - Keys

  private func keys(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    switch change {
    case .rotateSigningKey(let server):
      let count = "\(try await authority.signingKeys(of: server).count)"
      guard server == .keys else { return [texts[.effectRotateTokens, count]] }
      let files = try await authority.exports().reduce(0) { $0 + $1.files.count }
      return [texts[.effectRotateFiles, count, "\(files)"]]
    case .addAPIKey(let name, let kind):
      guard (1...ConsoleLimit.apiKeyNameCharactersMax).contains(name.count) else {
        throw AuthorityFailure.refused(
          texts[.changeBadKeyName, "\(ConsoleLimit.apiKeyNameCharactersMax)"])
      }
      // Says at once if the verification server is elsewhere.
      _ = try await authority.apiKeys()
      let key: TextKey =
        switch kind {
        case .device: .effectKeyDevice
        case .admin: .effectKeyAdmin
        case .stats: .effectKeyStats
        }
      return [texts[key], texts[.effectSecret, name]]
    case .revokeAPIKey(let id):
      guard let key = try await apiKey(id) else { throw AuthorityFailure.notFound }
      guard key.revokedAt == nil else { throw AuthorityFailure.refused(texts[.changeRevoked]) }
      return [texts[.effectRevoke, key.name, key.kind]]
    default: return []
    }
  }

  // MARK: - Authorities and apps

  private func registry(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    let authorities = try await authority.authorities()
    let apps = try await authority.apps()
    func stored(_ issuer: String) throws -> AuthorityFacts {
      guard let facts = authorities.first(where: { $0.issuer == issuer }) else {
        throw AuthorityFailure.notFound
      }
      return facts
    }
    func users(_ issuer: String) -> String {
      "\(apps.count { $0.authorities.contains(issuer) })"
    }
    switch change {
    case .addAuthority(let issuer, let audience, let keyID, let pem):
      let facts = AuthorityFacts(issuer: issuer, audience: audience, keyIDs: [keyID])
      try await authority.check(facts, publicKeyPEM: pem)
      return [texts[.effectAddAuthority, keyID, users(issuer)]]
    case .removeAuthority(let issuer):
      return [texts[.effectRemoveAuthority, "\(try stored(issuer).keyIDs.count)", users(issuer)]]
    case .withdrawAuthorityKey(let keyID, let issuer):
      let facts = try stored(issuer)
      guard facts.keyIDs.contains(keyID) else { throw AuthorityFailure.notFound }
      return [texts[.effectWithdrawKey, "\(facts.keyIDs.count - 1)", users(issuer)]]
    default: return []
    }
  }

  private func app(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    let apps = try await authority.apps()
    switch change {
    case .addApp(let id, let regions, let authorities):
      try await authority.check(AppFacts(id: id, regions: regions, authorities: authorities))
      let effect = texts[
        .effectAddApp, regions.joined(separator: ", "), authorities.joined(separator: ", ")]
      guard let present = apps.first(where: { $0.id == id }) else { return [effect] }
      return [
        effect,
        texts[
          .effectReplaceApp, present.regions.joined(separator: ", "),
          present.authorities.joined(separator: ", ")],
      ]
    case .removeApp(let id):
      guard let app = apps.first(where: { $0.id == id }) else { throw AuthorityFailure.notFound }
      return [
        texts[.effectRemoveApp, app.regions.joined(separator: ", "), "\(apps.count - 1)"]
      ]
    default: return []
    }
  }

  // MARK: - Accounts

  private func account(_ change: ConsoleChange, _ texts: Texts) async throws -> [String] {
    if case .addAccount(let name, let role) = change {
      guard AccountName.checked(name, ConsoleLimit.nameCharacters) == name else {
        throw AuthorityFailure.refused(texts[.accountBadName])
      }
      try await refusing(texts) { try await accounts.check(name: name) }
      return [texts[.effectAddAccount, texts[role.textKey]], texts[.effectSecret, name]]
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
    switch change {
    case .makeLink:
      return [
        texts[.effectLink, "\(counts.sessions)", "\(counts.passkeys)"],
        texts[.effectSecret, account.name],
      ]
    case .disableAccount:
      try await refusing(texts) { try await accounts.checkDisabling(account) }
      return [texts[.effectDisable, "\(counts.sessions)"]]
    default: return [texts[.effectEnable, "\(counts.passkeys)"]]
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
