import Foundation

/// Who may certify that keys are to be published, and how its certificates are known.
///
/// Documentation/KeyServer.md 8.
public struct HealthAuthority: Hashable, Sendable {
  /// The `iss` of its certificates; names it.
  public var issuer: String
  /// The `aud` of its certificates: the name it knows this server by.
  public var audience: String
  /// Its public keys in PEM (P-256, SubjectPublicKeyInfo), by the id its certificates name them with.
  public var publicKeysPEM: [String: String]
  /// Where it publishes its keys; nil where they are given to us by hand.
  public var jwksURL: URL?
  /// Whether it may ask for the statistics of its own uploads.
  public var seesStatistics: Bool

  /// An authority that certifies.
  public init(
    issuer: String, audience: String, publicKeysPEM: [String: String] = [:], jwksURL: URL? = nil,
    seesStatistics: Bool = false
  ) {
    self.issuer = issuer
    self.audience = audience
    self.publicKeysPEM = publicKeysPEM
    self.jwksURL = jwksURL
    self.seesStatistics = seesStatistics
  }
}

/// An app that may publish here, for which regions, and with whose certificates.
///
/// Documentation/KeyServer.md 8.
public struct AuthorizedApp: Hashable, Sendable {
  /// `healthAuthorityID` of `/v1/publish`, `appPackageName` of the seed contract.
  public var id: String
  /// Where its keys count; empty takes `PublishConfiguration.defaultRegion`, and in the seed contract the
  /// region that is exported.
  public var regions: Set<String>
  /// The issuers whose certificates it may use.
  public var authorities: Set<String>

  /// An app that may publish.
  public init(id: String, regions: Set<String>, authorities: Set<String>) {
    self.id = id
    self.regions = regions
    self.authorities = authorities
  }
}

extension AuthorizedApp {
  /// Whether `text` is two upper-case letters, as ISO 3166-1 writes a country.
  static func isRegion(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}

/// A public key of an authority, and when it is believed.
struct AuthorityKey: Hashable, Sendable {
  let keyID: String
  let publicKeyPEM: String
  let goodFrom: Date
  /// Nil where there is no end yet.
  let goodUntil: Date?
  /// Whether it came from the authority's own page.
  let isPulled: Bool
}

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

/// Apps and authorities as they are written down, in the configuration or in the database.
struct RegisterEntries: Hashable, Sendable {
  var apps: [AuthorizedApp] = []
  var authorities: [HealthAuthority] = []
  /// The keys of each authority that have a time, by issuer.
  var keys: [String: [AuthorityKey]] = [:]
}
