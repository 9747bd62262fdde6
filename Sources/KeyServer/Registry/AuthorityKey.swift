// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import World

/// A public key of an authority, with its validity.
struct AuthorityKey: Hashable, Sendable {
  let keyID: String
  let publicKeyPEM: String
  let goodFrom: Date
  /// The end of the validity; nil if unlimited.
  let goodUntil: Date?
  /// True if it was read from the authority's page.
  let isPulled: Bool
  /// The time at which an operator withdrew the key; nil if it was not withdrawn.
  ///
  /// A withdrawn key is kept, so that neither the authority's page nor a command can add it again.
  var withdrawnAt: Date?

  /// True if the key verifies signatures at `now`.
  func isGood(at now: Date) -> Bool {
    withdrawnAt == nil && goodFrom <= now && now < (goodUntil ?? .distantFuture)
  }
}

/// Merges new keys of an authority into its stored keys.
enum AuthorityKeyRule {
  /// Adds `keys`, PEM by id. A known key with the same id is replaced, and loses its end but not its start.
  /// A key that was withdrawn is not added, under any id, and its id is not used again.
  static func adding(
    _ keys: [String: String], isPulled: Bool, to known: [AuthorityKey]
  ) -> [AuthorityKey] {
    let beginnings = Dictionary(known.map { ($0.keyID, $0.goodFrom) }) { $1 }
    let keys = keys.filter { id, pem in !isWithdrawn(id, pem, in: known) }
    let added = keys.map {
      AuthorityKey(
        keyID: $0.key, publicKeyPEM: $0.value,
        goodFrom: beginnings[$0.key] ?? Date(unixSecond: 0), goodUntil: nil,
        isPulled: isPulled)
    }
    return known.filter { keys[$0.keyID] == nil } + added
  }

  /// True if a withdrawn key of `known` has the id `id` or the public key `pem`.
  static func isWithdrawn(_ id: String, _ pem: String, in known: [AuthorityKey]) -> Bool {
    let key = point(pem)
    return known.contains { other in
      guard other.withdrawnAt != nil else { return false }
      return other.keyID == id || other.publicKeyPEM == pem
        || key != nil && point(other.publicKeyPEM) == key
    }
  }

  /// True if a key of `known` has the id `id` and another public key than `pem`.
  static func isOther(_ id: String, _ pem: String, than known: [AuthorityKey]) -> Bool {
    known.contains {
      $0.keyID == id && $0.publicKeyPEM != pem && point($0.publicKeyPEM) != point(pem)
    }
  }

  /// The point of a public key, whose PEM may be written in several ways; nil for another text.
  private static func point(_ pem: String) -> Data? {
    do {
      return try P256.Signing.PublicKey(pemRepresentation: pem).x963Representation
    } catch {
      return nil
    }
  }

  /// Merges `page`, PEM by id, which was read from the authority's page. Pulled keys that are not on it any more
  /// end at `end` unless they end earlier, and are removed once it has passed. Keys added by hand stay.
  static func pulling(
    _ page: [String: String], into known: [AuthorityKey], at now: Date, othersEnd end: Date
  ) -> [AuthorityKey] {
    let kept = known.compactMap { key -> AuthorityKey? in
      guard key.isPulled, key.withdrawnAt == nil, page[key.keyID] == nil else { return key }
      let until = min(key.goodUntil ?? end, end)
      return until <= now ? nil : key.ending(at: until)
    }
    return adding(page, isPulled: true, to: kept)
  }

  /// The keys of an authority that stay when `stored` is changed to `changed`: pulled ones only if its page stays the
  /// same, because nothing else ends them.
  static func keeping(
    _ known: [AuthorityKey], of stored: HealthAuthority?, changedTo changed: HealthAuthority
  ) -> [AuthorityKey] {
    guard let stored else { return removing(known) }
    guard stored.jwksURL != changed.jwksURL else { return known }
    return known.filter { !$0.isPulled || $0.withdrawnAt != nil }
  }

  /// The rest of the keys of an authority that is removed: those that must not be added again.
  static func removing(_ known: [AuthorityKey]) -> [AuthorityKey] {
    known.filter { $0.withdrawnAt != nil }
  }

  /// Withdraws the key `id` at `now`. The result is equal to `known` if there is no such key.
  static func withdrawing(_ id: String, from known: [AuthorityKey], at now: Date) -> [AuthorityKey]
  {
    known.map { key in
      guard key.keyID == id, key.withdrawnAt == nil else { return key }
      var key = key
      key.withdrawnAt = now
      return key
    }
  }
}

extension AuthorityKey {
  fileprivate func ending(at end: Date) -> AuthorityKey {
    AuthorityKey(
      keyID: keyID, publicKeyPEM: publicKeyPEM, goodFrom: goodFrom, goodUntil: end,
      isPulled: isPulled)
  }
}
