// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI

/// An account that a list adds.
struct NewAccount: Codable, Hashable, Sendable {
  let name: String
  let role: Role
}

/// A change of phones, keys or accounts, which one person requests and another approves. It is stored as JSON.
enum ConsoleChange: Codable, Hashable, Sendable {
  case rotateSigningKey(server: SigningServer)
  case setCodeRules(values: CodeRules.Values)
  case addAPIKey(name: String, kind: APIKeyFacts.Kind)
  case revokeAPIKey(id: String)
  case addAuthority(issuer: String, audience: String, keyID: String, publicKeyPEM: String)
  case removeAuthority(issuer: String)
  case withdrawAuthorityKey(keyID: String, issuer: String)
  case addApp(id: String, regions: [String], authorities: [String])
  case removeApp(id: String)
  /// A pause from the approval on; nil until phones are resumed.
  case pause(hours: Int?)
  case resume
  /// The withdrawal of a key file with all its copies.
  case withdrawFile(file: KeyFileHash)
  case restoreFile(file: KeyFileHash)
  case addAccount(name: String, role: Role)
  case addAccounts(accounts: [NewAccount])
  case makeLink(account: String)
  case disableAccount(account: String)
  case enableAccount(account: String)

  /// The right that the person who requests it and the person who approves it need.
  var right: Right {
    switch self {
    case .pause, .resume, .withdrawFile, .restoreFile: .operatePhones
    case .addAccount, .addAccounts, .makeLink, .disableAccount, .enableAccount: .administerAccounts
    default: .administerKeys
    }
  }

  /// The rights with changes that need two people.
  static let rights: Set<Right> = [.operatePhones, .administerKeys, .administerAccounts]

  /// The existing account that it changes. Its holder does not decide, because a thief of the account could prevent
  /// that it is disabled.
  var account: String? {
    switch self {
    case .makeLink(let account), .disableAccount(let account), .enableAccount(let account): account
    default: nil
    }
  }

  /// The key file that it withdraws, or whose withdrawal it undoes.
  var file: KeyFileHash? {
    switch self {
    case .withdrawFile(let file), .restoreFile(let file): file
    default: nil
    }
  }

  /// The hours of a pause that one person may start alone; nil for every other change.
  var emergencyHours: Int? {
    guard case .pause(let hours?) = self, (1...ConsoleLimit.emergencyPauseHoursMax).contains(hours)
    else { return nil }
    return hours
  }

  /// The action in the audit log and the thing that is changed.
  var record: (action: AuditAction, subject: String) {
    switch self {
    case .rotateSigningKey(let server): (.signingKeyRotated, server.rawValue)
    case .setCodeRules: (.codeRulesChanged, "")
    case .addAPIKey(let name, _): (.apiKeyAdded, name)
    case .revokeAPIKey(let id): (.apiKeyRevoked, id)
    case .addAuthority(let issuer, _, _, _): (.authorityAdded, issuer)
    case .removeAuthority(let issuer): (.authorityRemoved, issuer)
    case .withdrawAuthorityKey(_, let issuer): (.authorityKeyWithdrawn, issuer)
    case .addApp(let id, _, _): (.appAdded, id)
    case .removeApp(let id): (.appRemoved, id)
    case .pause: (.paused, "")
    case .resume: (.resumed, "")
    case .withdrawFile(let file): (.withdrawn, "\(file)")
    case .restoreFile(let file): (.restored, "\(file)")
    case .addAccount(let name, _): (.accountAdded, name)
    case .addAccounts(let accounts):
      (.accountAdded, accounts.map(\.name).joined(separator: ", "))
    case .makeLink(let account): (.linkMade, account)
    case .disableAccount(let account): (.accountDisabled, account)
    case .enableAccount(let account): (.accountEnabled, account)
    }
  }

  /// The values of the change besides its subject, for the audit log.
  var detail: String {
    switch self {
    case .setCodeRules(let rules):
      return "PIN \(rules.pinSeconds) s, short code \(rules.shortCodeSeconds) s and"
        + " \(rules.shortCodeDigits) digits, long code \(rules.longCodeSeconds) s, date"
        + " \(rules.requiresDate ? "required" : "not required")"
    case .addAPIKey(_, let kind): return kind.rawValue
    case .addAuthority(_, let audience, let keyID, let pem):
      let fingerprint = PublicKeyFingerprint.text(ofPEM: pem) ?? "none"
      let named = audience.isEmpty ? "unchanged" : audience
      return "key \(keyID), SHA-256 \(fingerprint), audience \(named)"
    case .withdrawAuthorityKey(let keyID, _): return "key \(keyID)"
    case .addApp(_, let regions, let authorities):
      return "regions \(regions.joined(separator: ", ")),"
        + " authorities \(authorities.joined(separator: ", "))"
    case .pause(let hours): return hours.map { "\($0) hours" } ?? "until resumed"
    case .addAccount(_, let role): return role.rawValue
    case .addAccounts(let accounts): return "\(accounts.count) accounts"
    default: return ""
    }
  }

  /// The change in one line of the audit log.
  var summary: String {
    let words = [record.action.rawValue, record.subject].filter { !$0.isEmpty }
    return words.joined(separator: " ") + (detail.isEmpty ? "" : " (\(detail))")
  }

  /// The texts of the change that a person has typed, without the PEM of a key.
  var typedTexts: [String] {
    switch self {
    case .addAPIKey(let name, _), .addAccount(let name, _): [name]
    case .addAccounts(let accounts): accounts.map(\.name)
    case .revokeAPIKey(let id), .removeApp(let id): [id]
    case .addAuthority(let issuer, let audience, let keyID, _): [issuer, audience, keyID]
    case .removeAuthority(let issuer): [issuer]
    case .withdrawAuthorityKey(let keyID, let issuer): [keyID, issuer]
    case .addApp(let id, let regions, let authorities): [id] + regions + authorities
    case .makeLink(let account), .disableAccount(let account), .enableAccount(let account):
      [account]
    case .rotateSigningKey, .setCodeRules, .pause, .resume, .withdrawFile, .restoreFile: []
    }
  }

  /// The change with the name of its account as it is stored.
  func naming(_ account: Account) -> Self {
    switch self {
    case .makeLink: .makeLink(account: account.name)
    case .disableAccount: .disableAccount(account: account.name)
    case .enableAccount: .enableAccount(account: account.name)
    default: self
    }
  }

  /// True if it may be requested although many requests wait: otherwise a thief could prevent it.
  var isUrgent: Bool {
    if case .disableAccount = self { true } else { false }
  }

  /// The JSON document that is stored.
  var document: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// Decodes a document; nil if it is not a change, such as one of a newer version.
  init?(document: String) {
    // The caller reports that the document cannot be read.
    guard let change = try? JSONDecoder().decode(Self.self, from: Data(document.utf8)) else {
      return nil
    }
    self = change
  }
}
