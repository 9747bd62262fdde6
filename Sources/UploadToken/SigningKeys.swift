import Crypto
import Foundation
import Secrets

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
    JSONWebKeySet(keys: known(at: now).map { JSONWebKey(keyID: $0.keyID, $0.privateKey.publicKey) })
  }

  /// The public keys by ID for tokens that the issuer verifies itself at `now`.
  package func verifying(at now: Date) -> [String: P256.Signing.PublicKey] {
    Dictionary(known(at: now).map { ($0.keyID, $0.privateKey.publicKey) }) { first, _ in first }
  }

  private func known(at now: Date) -> [SigningKey] {
    keys.filter { now < $0.publishedUntil }
  }
}

/// A P-256 key that signs tokens and certificates, with its validity.
public struct SigningKey: Sendable {
  /// The `kid` in the header of signed tokens.
  public let keyID: String
  /// The first moment at which it signs. It is published before, so that verifiers know it in time.
  public let signsFrom: Date
  /// The first moment at which it is no longer published: all its tokens have expired.
  public let publishedUntil: Date
  let privateKey: P256.Signing.PrivateKey

  /// The key of `privateKeyPEM` (P-256, SEC1 or PKCS#8).
  ///
  /// - Throws: if the text is not such a key.
  public init(
    keyID: String, privateKeyPEM: String, signsFrom: Date = .distantPast,
    publishedUntil: Date = .distantFuture
  ) throws {
    self.keyID = keyID
    self.signsFrom = signsFrom
    self.publishedUntil = publishedUntil
    privateKey = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
  }
}

extension SigningKey: Redacted {
  public var description: String { "SigningKey(\(keyID))" }
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
