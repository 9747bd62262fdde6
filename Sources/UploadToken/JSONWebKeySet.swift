import Crypto
import Foundation

/// The public keys of an issuer: `{"keys": […]}` (RFC 7517, section 5).
public struct JSONWebKeySet: Codable, Hashable, Sendable {
  /// The keys, oldest first.
  public var keys: [JSONWebKey]

  /// Creates a set of `keys`.
  public init(keys: [JSONWebKey]) {
    self.keys = keys
  }

  /// Decodes a set, or the plain list of keys that Google's verification server publishes. Keys of
  /// other kinds, such as RSA, are skipped (RFC 7517, section 5).
  public init(from decoder: any Decoder) throws {
    let entries: [Entry]
    if let list = try? decoder.singleValueContainer().decode([Entry].self) {
      entries = list
    } else {
      entries = try decoder.container(keyedBy: CodingKeys.self).decode([Entry].self, forKey: .keys)
    }
    keys = entries.compactMap(\.key)
  }

  /// The usable keys as PEM by key ID. If two have the same ID, the first one is used.
  public var publicKeysPEM: [String: String] {
    let pairs = keys.compactMap { key -> (String, String)? in
      guard let id = key.kid, !id.isEmpty, let pem = key.publicKeyPEM else { return nil }
      return (id, pem)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// An element of the list. The key is nil if it is of another kind.
  private struct Entry: Decodable {
    let key: JSONWebKey?

    init(from decoder: any Decoder) {
      key = try? JSONWebKey(from: decoder)
    }
  }
}

/// A public P-256 key in JSON (RFC 7517, RFC 7518 6.2.1).
public struct JSONWebKey: Codable, Hashable, Sendable {
  /// The key type: `EC`.
  public var kty: String
  /// The curve: `P-256`.
  public var crv: String
  /// The x coordinate: base64url of 32 bytes.
  public var x: String
  /// The y coordinate: base64url of 32 bytes.
  public var y: String
  /// The key ID.
  public var kid: String?
  /// The algorithm: `ES256`.
  public var alg: String?
  /// The purpose: `sig`.
  public var use: String?

  init(keyID: String, _ key: P256.Signing.PublicKey) {
    let point = key.rawRepresentation
    (kty, crv, alg, use) = ("EC", "P-256", "ES256", "sig")
    x = Base64.urlText(Data(point.prefix(32)))
    y = Base64.urlText(Data(point.suffix(32)))
    kid = keyID
  }

  /// The key as PEM (SubjectPublicKeyInfo), or nil if it is of another kind or not on the curve.
  public var publicKeyPEM: String? {
    guard kty == "EC", crv == "P-256", [nil, "ES256"].contains(alg), [nil, "sig"].contains(use),
      let x = Base64.urlBytes(x[...].utf8), let y = Base64.urlBytes(y[...].utf8), x.count == 32,
      y.count == 32
    else { return nil }
    return try? P256.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
  }
}
