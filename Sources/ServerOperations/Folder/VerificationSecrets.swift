// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import Settings
import Terminal
import UploadToken
import World

/// The secrets of the verification server: `verification/secrets.json`.
struct VerificationSecrets: Codable, Equatable, Redacted {
  /// The key for the hashes of stored codes, 32 bytes.
  let codeHashKey: Data
  /// The accepted values of the `api-token` header in the ProteGO Safe contract.
  var apiTokens: [String]
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
    get throws { try SigningKeys(signingKeys.map { try $0.tokenKey }) }
  }
}

extension ServerFolder {
  var verificationSecrets: PrivateFile { server(.verification).secrets }
}
