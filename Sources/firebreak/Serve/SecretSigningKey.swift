import Crypto
import Foundation
import KeyServer
import UploadToken

/// A signing key as it lies in a file of secrets.
struct SecretSigningKey: Codable {
  /// The id verifiers know it by.
  let keyID: String
  /// The version phones know it by; of keys that sign key files only.
  let keyVersion: String?
  let privateKeyPEM: String
  /// From when it signs, in Unix seconds; nil for always.
  let validFrom: Int64?
  /// Until when, in Unix seconds, that moment excluded; nil for good.
  var validThru: Int64?

  /// A new key.
  init(keyID: String, keyVersion: String?, validFrom: Date?) {
    self.keyID = keyID
    self.keyVersion = keyVersion
    privateKeyPEM = P256.Signing.PrivateKey().pemRepresentation
    self.validFrom = validFrom.map { Int64($0.timeIntervalSince1970) }
  }

  /// The public half in PEM, for those who verify.
  var publicKeyPEM: String {
    (try? P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM).publicKey.pemRepresentation)
      ?? ""
  }

  /// The key as the key server takes it.
  var exportSigner: ExportSigner {
    ExportSigner(
      privateKeyPEM: privateKeyPEM, keyID: keyID, keyVersion: keyVersion ?? "v1",
      validFrom: validFrom.map(Self.date), validThru: validThru.map(Self.date))
  }

  /// The key as the verification server takes it.
  ///
  /// - Throws: where the text is no key.
  var tokenKey: SigningKey {
    get throws {
      try SigningKey(
        keyID: keyID, privateKeyPEM: privateKeyPEM,
        signsFrom: validFrom.map(Self.date) ?? .distantPast,
        publishedUntil: validThru.map(Self.date) ?? .distantFuture)
    }
  }

  private static func date(_ seconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(seconds))
  }
}

extension SecretSigningKey: CustomStringConvertible, CustomReflectable {
  var description: String { "SecretSigningKey(\(keyID) \(keyVersion ?? ""))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
