import Crypto
import Foundation

/// A public P-256 key as the web writes it (RFC 7517, RFC 7518 6.2.1).
public struct JSONWebKey: Codable, Hashable, Sendable {
  /// The kind of key: `EC`.
  public var kty: String
  /// The curve: `P-256`.
  public var crv: String
  /// The point's coordinates, 32 bytes each in base64url.
  public var x: String
  /// See `x`.
  public var y: String
  /// The id that tokens name it by.
  public var kid: String?
  /// What it is used with: `ES256`.
  public var alg: String?
  /// What it is used for: `sig`.
  public var use: String?

  /// The key under the id `keyID`.
  init(keyID: String, _ key: P256.Signing.PublicKey) {
    let point = key.rawRepresentation
    (kty, crv, alg, use) = ("EC", "P-256", "ES256", "sig")
    x = Base64URL.text(Data(point.prefix(32)))
    y = Base64URL.text(Data(point.suffix(32)))
    kid = keyID
  }

  /// The key as PEM (SubjectPublicKeyInfo); nil where it is of another kind or not on the curve.
  public var publicKeyPEM: String? {
    guard kty == "EC", crv == "P-256", [nil, "ES256"].contains(alg), [nil, "sig"].contains(use),
      let x = Base64URL.bytes(x[...].utf8), let y = Base64URL.bytes(y[...].utf8), x.count == 32,
      y.count == 32
    else { return nil }
    return try? P256.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
  }
}
