import Crypto
import Foundation

/// A health authority whose certificates are believed, with its public keys.
public struct CertificateAuthority: Sendable {
  /// Claim `iss` of its certificates.
  public let issuer: String
  /// Claim `aud` of its certificates: the name it knows this key server by.
  public let audience: String
  private let keys: [Key]

  /// An authority without a key; nothing of it is believed yet.
  public init(issuer: String, audience: String) {
    self.issuer = issuer
    self.audience = audience
    keys = []
  }

  private init(_ authority: Self, keys: [Key]) {
    issuer = authority.issuer
    audience = authority.audience
    self.keys = keys
  }

  /// The authority with one key more: `publicKeyPEM` (P-256, SubjectPublicKeyInfo) under the id
  /// `keyID`, believed from `from` until just before `until`.
  ///
  /// - Throws: where the text is no such key.
  public func adding(
    keyID: String, publicKeyPEM: String, from: Date = .distantPast, until: Date = .distantFuture
  ) throws -> Self {
    let key = try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM)
    return Self(self, keys: keys + [Key(keyID: keyID, key: key, from: from, until: until)])
  }

  /// The key of that id, where it is believed at `now`.
  func key(_ keyID: String, at now: Date) -> P256.Signing.PublicKey? {
    keys.last { $0.keyID == keyID && $0.from <= now && now < $0.until }?.key
  }

  private struct Key: Sendable {
    var keyID: String
    var key: P256.Signing.PublicKey
    var from: Date
    var until: Date
  }
}
