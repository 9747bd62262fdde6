// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings

/// The signing keys of one issuer, with rotation.
///
/// The newest active key signs. Older keys stay published until their tokens have expired; the next
/// key is published before it signs.
public struct SigningKeys: Sendable {
  private let keys: [SigningKey]

  /// Creates a set of `keys`.
  ///
  /// - Throws: `SigningKeysError` if there is no key, or two have the same ID.
  public init(_ keys: [SigningKey]) throws(SigningKeysError) {
    guard !keys.isEmpty else { throw .noKey }
    guard Set(keys.map(\.keyID)).count == keys.count else { throw .sameKeyID }
    self.keys = keys.sorted { $0.signsFrom < $1.signsFrom }
  }

  /// The newest key that is active at `now`.
  ///
  /// - Throws: `SigningKeysError.noKeyNow`.
  public func signing(at now: Date) throws(SigningKeysError) -> SigningKey {
    let ready = keys.last { $0.signsFrom <= now && now < $0.publishedUntil }
    guard let ready else { throw .noKeyNow }
    return ready
  }

  /// The public keys to publish at `now`, including a key that does not sign yet.
  public func published(at now: Date) -> JSONWebKeySet {
    JSONWebKeySet(keys: known(at: now).map { JSONWebKey(keyID: $0.keyID, $0.signer.publicKey) })
  }

  /// The public keys by ID for tokens that the issuer verifies itself at `now`.
  package func verifying(at now: Date) -> [String: P256.Signing.PublicKey] {
    Dictionary(known(at: now).map { ($0.keyID, $0.signer.publicKey) }) { first, _ in first }
  }

  private func known(at now: Date) -> [SigningKey] {
    keys.filter { now < $0.publishedUntil }
  }
}

/// The reason why a set of signing keys cannot be used.
public enum SigningKeysError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The set is empty.
  case noKey
  /// Two keys have the same ID, so that a verifier could not select one.
  case sameKeyID
  /// No key is active at this moment.
  case noKeyNow

  public var description: String {
    switch self {
    case .noKey: "No signing key is configured: add one."
    case .sameKeyID: "Two signing keys have the same ID: rename one."
    case .noKeyNow: "No signing key is active: add one that signs from now on."
    }
  }
}

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
    if let list = try decoder.singleValueContainer().decodeIfMatching([Entry].self) {
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
      // Keys of other kinds have other fields.
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
    x = Data(point.prefix(32)).base64URL
    y = Data(point.suffix(32)).base64URL
    kid = keyID
  }

  /// The key as PEM (SubjectPublicKeyInfo), or nil if it is of another kind or not on the curve.
  public var publicKeyPEM: String? {
    guard kty == "EC", crv == "P-256", [nil, "ES256"].contains(alg), [nil, "sig"].contains(use),
      let x = Base64.urlBytes(x[...].utf8), let y = Base64.urlBytes(y[...].utf8), x.count == 32,
      y.count == 32
    else { return nil }
    // It throws for a point that is not on the curve.
    return try? P256.Signing.PublicKey(rawRepresentation: x + y).pemRepresentation
  }
}
