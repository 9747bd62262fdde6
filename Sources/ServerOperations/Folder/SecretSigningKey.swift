// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import Secrets
import UploadToken
import World

/// A signing key in a file of secrets.
struct SecretSigningKey: Codable, Equatable, Redacted {
  /// The id in tokens and key files.
  let keyID: String
  /// The version in key files; `nil` for keys that sign tokens.
  let keyVersion: String?
  let privateKeyPEM: String
  /// The public key, which detects a damaged private key.
  let publicKeyPEM: String
  /// Start of validity in Unix seconds; `nil` for no start.
  let validFrom: Int64?
  /// End of validity in Unix seconds, exclusive; `nil` for no end.
  var validThru: Int64?

  /// Generates a key.
  init(keyID: String, keyVersion: String?, validFrom: Date?) {
    self.keyID = keyID
    self.keyVersion = keyVersion
    let key = P256.Signing.PrivateKey()
    (privateKeyPEM, publicKeyPEM) = (key.pemRepresentation, key.publicKey.pemRepresentation)
    self.validFrom = validFrom.map(\.unixSecond)
  }

  /// - Throws: `DecodingError` if the public half does not belong to the private key.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    keyID = try fields.decode(String.self, forKey: .keyID)
    keyVersion = try fields.decodeIfPresent(String.self, forKey: .keyVersion)
    privateKeyPEM = try fields.decode(String.self, forKey: .privateKeyPEM)
    publicKeyPEM = try fields.decode(String.self, forKey: .publicKeyPEM)
    validFrom = try fields.decodeIfPresent(Int64.self, forKey: .validFrom)
    validThru = try fields.decodeIfPresent(Int64.self, forKey: .validThru)
    // Text that is not a key belongs to no public key.
    let key = try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    guard key?.publicKey.pemRepresentation == publicKeyPEM else {
      throw DecodingError.dataCorruptedError(
        forKey: .publicKeyPEM, in: fields, debugDescription: "The private key is damaged.")
    }
  }

  var exportSigner: ExportSigner {
    ExportSigner(
      privateKeyPEM: privateKeyPEM, keyID: keyID, keyVersion: keyVersion ?? "v1",
      validFrom: validFrom.map(Self.date), validThru: validThru.map(Self.date))
  }

  /// - Throws: If the private key is not valid PEM.
  var tokenKey: SigningKey {
    get throws {
      try SigningKey(
        keyID: keyID, privateKeyPEM: privateKeyPEM,
        signsFrom: validFrom.map(Self.date) ?? .distantPast,
        publishedUntil: validThru.map(Self.date) ?? .distantFuture)
    }
  }

  var description: String { "SecretSigningKey(\(keyID) \(keyVersion ?? ""))" }

  private static func date(_ seconds: Int64) -> Date {
    Date(unixSecond: seconds)
  }
}
