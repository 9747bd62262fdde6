import Foundation

/// What becomes of an authority's keys when some are written down. Documentation/KeyServer.md 8.3.
enum AuthorityKeyRule {
  /// `known` with `keys`, PEM by id, beside them. One that is there under the same id is good again, and
  /// keeps its beginning.
  static func adding(
    _ keys: [String: String], isPulled: Bool, to known: [AuthorityKey]
  ) -> [AuthorityKey] {
    let beginnings = Dictionary(known.map { ($0.keyID, $0.goodFrom) }) { $1 }
    let added = keys.map {
      AuthorityKey(
        keyID: $0.key, publicKeyPEM: $0.value,
        goodFrom: beginnings[$0.key] ?? Date(timeIntervalSince1970: 0), goodUntil: nil,
        isPulled: isPulled)
    }
    return known.filter { keys[$0.keyID] == nil } + added
  }

  /// `known` after the authority's page showed `page`, PEM by id: those that have gone from it end at
  /// `end`, unless they have an end, and those whose end has come by `now` are forgotten. What was given
  /// by hand stays.
  static func pulling(
    _ page: [String: String], into known: [AuthorityKey], at now: Date, othersEnd end: Date
  ) -> [AuthorityKey] {
    let kept = known.compactMap { key -> AuthorityKey? in
      guard key.isPulled, page[key.keyID] == nil else { return key }
      let until = key.goodUntil ?? end
      return until <= now ? nil : key.ending(at: until)
    }
    return adding(page, isPulled: true, to: kept)
  }
}

extension AuthorityKey {
  fileprivate func ending(at end: Date) -> AuthorityKey {
    AuthorityKey(
      keyID: keyID, publicKeyPEM: publicKeyPEM, goodFrom: goodFrom, goodUntil: end,
      isPulled: isPulled)
  }
}
