import Crypto
import Foundation

/// The keys of one issuer, in overlap: the newest signs, the older ones are published until what they
/// signed has expired, the next one is published before it signs.
public struct SigningKeys: Sendable {
  private let keys: [SigningKey]

  /// The keys of `keys`.
  ///
  /// - Throws: `SigningKeysError` where there is none, or two have the same id.
  public init(_ keys: [SigningKey]) throws(SigningKeysError) {
    guard !keys.isEmpty else { throw .noKey }
    guard Set(keys.map(\.keyID)).count == keys.count else { throw .sameKeyID }
    self.keys = keys.sorted { $0.signsFrom < $1.signsFrom }
  }

  /// The key that signs at `now`: of those whose time has come the newest.
  ///
  /// - Throws: `SigningKeysError.noKeyNow`.
  public func signing(at now: Date) throws(SigningKeysError) -> SigningKey {
    let ready = keys.last { $0.signsFrom <= now && now < $0.publishedUntil }
    guard let ready else { throw .noKeyNow }
    return ready
  }

  /// What verifiers should know at `now`, also of a key that does not sign yet.
  public func published(at now: Date) -> JSONWebKeySet {
    JSONWebKeySet(keys: known(at: now).map { JSONWebKey(keyID: $0.keyID, $0.privateKey.publicKey) })
  }

  /// The keys by which to check, at `now`, what this issuer signed for itself.
  package func verifying(at now: Date) -> [String: P256.Signing.PublicKey] {
    Dictionary(known(at: now).map { ($0.keyID, $0.privateKey.publicKey) }) { first, _ in first }
  }

  private func known(at now: Date) -> [SigningKey] {
    keys.filter { now < $0.publishedUntil }
  }
}
