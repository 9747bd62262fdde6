// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import Settings
import Terminal
import UploadToken
import VerificationServer
import World

/// The secrets of the verification server: `verification/secrets.json`.
struct VerificationSecrets: Codable, Equatable, Redacted {
  /// The key for the hashes of stored codes, 32 bytes.
  let codeHashKey: Data
  /// The accepted values of the `api-token` header in the ProteGO Safe contract.
  private(set) var apiTokens: [String]
  /// The SHA-256 of tokens that were replaced, oldest first; nil for none. They stay invalid after a restoration.
  private var replacedAPITokens: [Data]?
  /// The keys that sign tokens and certificates.
  var signingKeys: [SecretSigningKey]

  init(randomness: any Randomness) {
    codeHashKey = Data(randomness.bytes(32))
    apiTokens = [Self.newToken(randomness)]
    signingKeys = [SecretSigningKey(keyID: "t1", keyVersion: nil, validFrom: nil)]
  }

  /// A random value of the `api-token` header.
  static func newToken(_ randomness: any Randomness) -> String {
    Data(randomness.bytes(24)).base64EncodedString()
  }

  mutating func addAPIToken(_ token: String) { apiTokens.append(token) }

  /// Replaces all tokens by a new one.
  mutating func replaceAPITokens(by token: String) {
    setReplaced((replacedAPITokens ?? []) + apiTokens.map(Self.hash))
    apiTokens = [token]
  }

  /// Removes the tokens that were replaced in `earlier`, and adds its new ones in their place.
  ///
  /// - Returns: True if there were such tokens.
  mutating func takeOverAPITokens(of earlier: VerificationSecrets) -> Bool {
    let own = replacedAPITokens ?? []
    let replaced = own + (earlier.replacedAPITokens ?? []).filter { !own.contains($0) }
    let valid = apiTokens.filter { !replaced.contains(Self.hash($0)) }
    let hasReplaced = valid.count < apiTokens.count
    if hasReplaced {
      let new = earlier.apiTokens.filter {
        !replaced.contains(Self.hash($0)) && !valid.contains($0)
      }
      apiTokens = Array((valid + new).prefix(VerificationLimit.apiTokensMax))
    }
    setReplaced(replaced)
    return hasReplaced
  }

  private mutating func setReplaced(_ hashes: [Data]) {
    replacedAPITokens = hashes.isEmpty ? nil : Array(hashes.suffix(Self.replacedAPITokensMax))
  }

  private static func hash(_ token: String) -> Data { Data(SHA256.hash(data: Data(token.utf8))) }

  /// The number of replaced tokens that are remembered.
  private static let replacedAPITokensMax = 1_000

  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> VerificationSecrets? {
    try folder.verificationSecrets.read(Self.self, neededBy: folder.verificationDatabase)
  }

  /// The secrets of a server, which are created for its first start.
  static func storedOrNew(in folder: ServerFolder) throws -> VerificationSecrets {
    try stored(in: folder)
      ?? folder.verificationSecrets.create(VerificationSecrets(randomness: SystemRandomness()))
  }

  /// - Throws: If a key is not valid PEM, or two keys have the same id.
  var tokenKeys: SigningKeys {
    get throws { try SigningKeys(signingKeys.map { try $0.uploadTokenKey() }) }
  }
}

extension VerificationSecrets {
  /// The secrets that change while a server runs, for other processes with the same database.
  struct Changing: Codable, Equatable, Redacted {
    let apiTokens: [String]
    fileprivate let replacedAPITokens: [Data]?
    var signingKeys: [SecretSigningKey]

    /// True if `other` has keys or replaced tokens that these secrets do not have.
    func isOlder(than other: Changing) -> Bool {
      // Two processes may have given one ID to two keys.
      let keys = Set(signingKeys.map(\.publicKeyPEM))
      let replaced = Set(replacedAPITokens ?? [])
      return !other.signingKeys.allSatisfy { keys.contains($0.publicKeyPEM) }
        || !(other.replacedAPITokens ?? []).suffix(1).allSatisfy(replaced.contains)
    }
  }

  /// The secrets that change while a server runs.
  var changing: Changing {
    get {
      Changing(
        apiTokens: apiTokens, replacedAPITokens: replacedAPITokens, signingKeys: signingKeys)
    }
    set {
      (apiTokens, replacedAPITokens) = (newValue.apiTokens, newValue.replacedAPITokens)
      signingKeys = newValue.signingKeys
    }
  }
}

extension ServerFolder {
  var verificationSecrets: PrivateFile { server(.verification).secrets }
}
