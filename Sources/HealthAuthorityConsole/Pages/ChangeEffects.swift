// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TextEncodings
import World

/// The effect of a change in words.
struct ChangeEffect: Sendable {
  let title: String
  var sentences: [String] = []
  /// The facts that the change depends on, in no language and without times that pass.
  var facts: [String] = []
  /// The files of a withdrawal or its end.
  var files: [KeyFileHash] = []

  /// The values for templates.
  var values: [String: Any] {
    ["title": title, "sentences": sentences.map { ["text": $0] }, "effect": digest]
  }

  /// The digest of the facts, by which an approval names the effect that was shown.
  var digest: String {
    var hash = SHA256()
    for fact in facts + files.map(\.description).sorted() {
      // With its length, so that facts cannot run into each other.
      hash.update(data: Data("\(fact.utf8.count) \(fact)".utf8))
    }
    return hash.finalize().hexadecimal
  }
}

/// Describes the effect of changes with the present numbers of phones, files, uploads and sessions that they concern,
/// and refuses those that are not possible.
struct ChangeEffects: Sendable {
  let authority: any AdministeredAuthority
  let accounts: AccountStore
  /// The clock of the servers.
  let clock: any WallClock

  /// The facts for a page that shows `changes`.
  func reading(for changes: [ConsoleChange]) -> AuthorityReading {
    AuthorityReading(authority, files: Set(changes.compactMap(\.file)))
  }

  /// The effect of `change` for a page, with the uploads of a day where they help to judge it.
  ///
  /// A decision uses `effect(of:_:_:)`, which does not wait for servers that do not respond.
  func shownEffect(
    of change: ConsoleChange, _ texts: Texts, _ reading: AuthorityReading? = nil
  ) async throws -> ChangeEffect {
    let reading = reading ?? self.reading(for: [change])
    var effect = try await effect(of: change, texts, reading)
    switch change {
    case .pause, .removeApp: effect.sentences += await uploads(texts, reading)
    default: break
    }
    return effect
  }

  /// The effect of `change` if it were carried out now.
  ///
  /// - Parameter reading: The facts of the page; nil to read those of this change alone.
  /// - Throws: `AuthorityFailure` with the reason if it is not possible.
  func effect(
    of change: ConsoleChange, _ texts: Texts, _ reading: AuthorityReading? = nil
  ) async throws -> ChangeEffect {
    try check(change, texts)
    let reading = reading ?? self.reading(for: [change])
    var effect = ChangeEffect(title: try await title(of: change, texts, reading))
    effect.facts = [try change.document]
    switch change {
    case .pause, .resume, .withdrawFile, .restoreFile:
      try await describePhones(change, reading, texts, &effect)
    case .addAccounts(let added): try await describeAccounts(added, texts, &effect)
    case .addAccount, .makeLink, .disableAccount, .enableAccount:
      try await describeAccount(change, texts, &effect)
    case .addAuthority, .removeAuthority, .withdrawAuthorityKey:
      try await describeRegistry(change, reading, texts, &effect)
    case .addApp, .removeApp: try await describeApp(change, reading, texts, &effect)
    case .setCodeRules(let values): try await describeRules(values, texts, &effect)
    default: try await describeKeys(change, reading, texts, &effect)
    }
    return effect
  }

  /// Refuses typed texts that pages and the audit log do not show as they are.
  private func check(_ change: ConsoleChange, _ texts: Texts) throws {
    let isPlain = change.typedTexts.allSatisfy {
      PlainText.isPlain($0) && $0.utf8.count <= ConsoleLimit.changeValueBytesMax
    }
    guard isPlain, try change.document.utf8.count <= ConsoleLimit.changeBytesMax else {
      throw AuthorityFailure.refused(
        texts[.changeBadText, "\(ConsoleLimit.changeValueBytesMax)"])
    }
  }

  /// The change in a few words, also if it is not possible any more.
  func title(
    of change: ConsoleChange, _ texts: Texts, _ reading: AuthorityReading
  ) async throws -> String {
    switch change {
    case .rotateSigningKey(let server):
      texts[.changeRotate, texts[server == .keys ? .keysOfKeys : .keysOfVerification]]
    case .setCodeRules: texts[.changeCodeRules]
    case .addAPIKey(let name, let kind): texts[.changeAddAPIKey, name, kind.rawValue]
    case .revokeAPIKey(let id):
      texts[.changeRevokeAPIKey, try await apiKey(id, reading)?.name ?? id]
    case .addAuthority(let issuer, _, let keyID, _): texts[.changeAddAuthority, issuer, keyID]
    case .removeAuthority(let issuer): texts[.changeRemoveAuthority, issuer]
    case .withdrawAuthorityKey(let keyID, let issuer): texts[.changeWithdrawKey, issuer, keyID]
    case .addApp(let id, _, _): texts[.changeAddApp, id]
    case .removeApp(let id): texts[.changeRemoveApp, id]
    case .pause(let hours?): texts[.changePause, "\(hours)"]
    case .pause(nil): texts[.changePauseOpen]
    case .resume: texts[.changeResume]
    case .withdrawFile(let file): texts[.changeWithdrawFile, try await name(of: file, reading)]
    case .restoreFile(let file): texts[.changeRestoreFile, try await name(of: file, reading)]
    case .addAccount(let name, let role): texts[.changeAddAccount, name, texts[role.textKey]]
    case .addAccounts(let accounts): texts[.changeAddAccounts, "\(accounts.count)"]
    case .makeLink(let account): texts[.changeMakeLink, account]
    case .disableAccount(let account): texts[.changeDisable, account]
    case .enableAccount(let account): texts[.changeEnable, account]
    }
  }

  private func apiKey(
    _ id: String, _ reading: AuthorityReading
  ) async throws(AuthorityFailure) -> APIKeyFacts? {
    try await reading.apiKeys.value.first { $0.id == id }
  }

  private func name(
    of file: KeyFileHash, _ reading: AuthorityReading
  ) async throws(AuthorityFailure) -> String {
    try await reading.copies(of: file).first { $0.hash == file }?.name ?? "\(file)"
  }

  /// The uploads of the last day with a count, in one sentence; empty if there is none or a server does not respond.
  private func uploads(_ texts: Texts, _ reading: AuthorityReading) async -> [String] {
    // The effect is complete without the count.
    guard let days = try? await reading.days.value,
      let day = days.last(where: { ($0.uploads ?? 0) >= ConsoleLimit.shownCountMin })
    else { return [] }
    return [
      texts[.effectUploads, OfficeTime.utcDay(Date(unixSecond: day.day)), "\(day.uploads ?? 0)"]
    ]
  }

  // MARK: - Keys

  private func describeKeys(
    _ change: ConsoleChange, _ reading: AuthorityReading, _ texts: Texts,
    _ effect: inout ChangeEffect
  ) async throws {
    switch change {
    case .rotateSigningKey(let server):
      let ids = try await reading.signingKeys(of: server).map(\.id)
      effect.facts += ids.sorted()
      guard server == .keys else {
        effect.sentences = [texts[.effectRotateTokens, "\(ids.count)"]]
        return
      }
      let files = try await reading.exports.value.reduce(0) { $0 + $1.files.count }
      effect.sentences = [texts[.effectRotateFiles, "\(ids.count)", "\(files)"]]
    case .addAPIKey(let name, let kind):
      try await checkAPIKey(name, reading, texts)
      effect.sentences = [texts[Self.effectKey(kind)], texts[.effectSecret, name]]
    case .revokeAPIKey(let id):
      guard let key = try await apiKey(id, reading) else { throw AuthorityFailure.notFound }
      guard key.revokedAt == nil else { throw AuthorityFailure.refused(texts[.changeRevoked]) }
      effect.facts += [key.name, key.kind]
      effect.sentences = [texts[.effectRevoke, key.name, key.kind]] + liveCodes(of: key, texts)
    default: break
    }
  }

  /// The number of codes that end with the key. Small numbers are not shown, as on the other pages.
  private func liveCodes(of key: APIKeyFacts, _ texts: Texts) -> [String] {
    guard let count = key.liveCodes else { return [] }
    let least = ConsoleLimit.shownCountMin
    return [
      (1..<least).contains(count)
        ? texts[.effectFewLiveCodes, "\(least)"] : texts[.effectLiveCodes, "\(count)"]
    ]
  }

  private func checkAPIKey(
    _ name: String, _ reading: AuthorityReading, _ texts: Texts
  ) async throws {
    guard (1...ConsoleLimit.apiKeyNameCharactersMax).contains(name.count) else {
      throw AuthorityFailure.refused(
        texts[.changeBadKeyName, "\(ConsoleLimit.apiKeyNameCharactersMax)"])
    }
    // Says at once if the verification server is elsewhere.
    _ = try await reading.apiKeys.value
  }

  private static func effectKey(_ kind: APIKeyFacts.Kind) -> TextKey {
    switch kind {
    case .device: .effectKeyDevice
    case .admin: .effectKeyAdmin
    case .stats: .effectKeyStats
    }
  }

  // MARK: - Rules for codes

  /// Describes each rule that would change.
  private func describeRules(
    _ values: CodeRules.Values, _ texts: Texts, _ effect: inout ChangeEffect
  ) async throws {
    let present = try await authority.codeRules()
    for rule in CodeRule.allCases {
      // The limits may have changed since the form was sent.
      guard let range = rule.range(in: present.limits), let number = rule.number(in: values),
        !range.contains(number)
      else { continue }
      throw AuthorityFailure.refused(rule.fault(range, texts))
    }
    guard values.shortCodeSeconds <= values.longCodeSeconds else {
      throw AuthorityFailure.refused(texts[.rulesLongShorter])
    }
    let changed = CodeRule.allCases.filter {
      $0.text(values, texts) != $0.text(present.values, texts)
    }
    guard !changed.isEmpty else { throw AuthorityFailure.refused(texts[.rulesSame]) }
    effect.facts += changed.map { "\($0.setting) \($0.text(present.values, texts))" }
    effect.sentences =
      changed.map {
        texts[
          .effectRule, texts[$0.name], $0.text(values, texts), $0.text(present.values, texts)]
      } + [texts[.effectRules]]
  }

  // MARK: - Authorities and apps

  private func describeRegistry(
    _ change: ConsoleChange, _ reading: AuthorityReading, _ texts: Texts,
    _ effect: inout ChangeEffect
  ) async throws {
    let authorities = try await reading.authorities.value.filter { !$0.isInSettings }
    let apps = try await reading.apps.value.filter { !$0.isInSettings }
    let issuer = change.record.subject
    let users = apps.filter { $0.authorities.contains(issuer) }.map(\.id).sorted()
    let known = authorities.first { $0.issuer == issuer }
    effect.facts += users + (known.map(Self.facts) ?? [])
    if case .addAuthority(_, let audience, let keyID, let pem) = change {
      let facts = AuthorityFacts(
        issuer: issuer, audience: audience, keyIDs: [keyID], publicKeysPEM: [keyID: pem])
      return try await describeAddition(of: facts, to: known, users.count, texts, &effect)
    }
    guard let known else { throw AuthorityFailure.notFound }
    guard case .withdrawAuthorityKey(let keyID, _) = change else {
      effect.sentences = [
        texts[.effectRemoveAuthority, "\(known.keyIDs.count)", "\(users.count)"]
      ]
      return
    }
    guard known.keyIDs.contains(keyID) else { throw AuthorityFailure.notFound }
    effect.sentences = [
      texts[.effectWithdrawKey, "\(known.keyIDs.count - 1)", "\(users.count)"]
    ]
    if let text = known.publicKeysPEM[keyID].flatMap(PublicKeyFingerprint.text) {
      effect.sentences.append(texts[.effectFingerprint, text])
    }
  }

  private static func facts(of authority: AuthorityFacts) -> [String] {
    [authority.audience]
      + authority.keyIDs.sorted().flatMap { id in
        [id, authority.publicKeysPEM[id].flatMap(PublicKeyFingerprint.text) ?? ""]
      }
  }

  /// Describes the addition of a key, which replaces neither a key nor the audience of a known authority.
  private func describeAddition(
    of added: AuthorityFacts, to known: AuthorityFacts?, _ users: Int, _ texts: Texts,
    _ effect: inout ChangeEffect
  ) async throws {
    let keyID = added.keyIDs.first ?? ""
    let pem = added.publicKeysPEM[keyID] ?? ""
    try await authority.check(added, publicKeyPEM: pem)
    guard let fingerprint = PublicKeyFingerprint.text(ofPEM: pem) else {
      throw AuthorityFailure.refused(texts[.changeBadKey])
    }
    if let known {
      guard added.audience.isEmpty || added.audience == known.audience else {
        throw AuthorityFailure.refused(
          texts[.changeOtherAudience, known.issuer, known.audience])
      }
      let present = known.publicKeysPEM[keyID].flatMap(PublicKeyFingerprint.text)
      guard !known.keyIDs.contains(keyID) || present == fingerprint else {
        throw AuthorityFailure.refused(texts[.changeOtherKey, known.issuer, keyID])
      }
    }
    let audience = added.audience.isEmpty ? known?.audience ?? "" : added.audience
    effect.facts.append(fingerprint)
    effect.sentences = [
      texts[.effectAddAuthority, keyID, "\(users)"], texts[.effectFingerprint, fingerprint],
      texts[.effectAudience, audience],
    ]
  }

  private func describeApp(
    _ change: ConsoleChange, _ reading: AuthorityReading, _ texts: Texts,
    _ effect: inout ChangeEffect
  ) async throws {
    let all = try await reading.apps.value
    let apps = all.filter { !$0.isInSettings }
    func words(_ app: AppFacts) -> [String] {
      [
        app.regions.sorted().joined(separator: ", "),
        app.authorities.sorted().joined(separator: ", "),
      ]
    }
    switch change {
    case .addApp(let id, let regions, let authorities):
      let app = AppFacts(id: id, regions: regions, authorities: authorities)
      try await authority.check(app)
      let new = words(app)
      effect.sentences = [texts[.effectAddApp, new[0], new[1]]]
      guard let present = apps.first(where: { $0.id == id }).map(words) else { return }
      effect.facts += present
      effect.sentences.append(texts[.effectReplaceApp, present[0], present[1]])
    case .removeApp(let id):
      guard let app = apps.first(where: { $0.id == id }) else { throw AuthorityFailure.notFound }
      effect.facts += words(app)
      effect.sentences = [texts[.effectRemoveApp, words(app)[0], "\(all.count - 1)"]]
    default: break
    }
  }
}
