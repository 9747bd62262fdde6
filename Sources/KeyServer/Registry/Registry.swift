// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import UploadToken

/// All apps and authorities that are known at one moment, with verifiers for their keys.
///
/// The entries of the configuration are never replaced by stored ones. Nothing that is stored changes the keys or
/// the properties of the issuer of upload tokens.
struct Registry: Sendable {
  let apps: [String: AuthorizedApp]
  let authorities: [String: HealthAuthority]
  let certificates: CertificateVerifier
  let tokens: TokenVerifiers
  /// The stored authorities that are ignored, because the configuration has others with the same issuer.
  let ignoredIssuers: [String]
  /// The stored apps with an id, a region or an authority of a realm, which have no effect there.
  let limitedApps: [String]
  private let keys: [String: [AuthorityKey]]

  /// The entries of the configuration and of the database together. Unreadable keys are left out.
  init(configured: ConfiguredRegistry, stored: RegistryEntries) {
    tokens = configured.tokens
    let own = configured.ownIssuers
    let added = stored.apps.compactMap { configured.limited($0) }
    limitedApps = stored.apps.filter { configured.limited($0) != $0 }.map(\.id)
    let configured = configured.entries
    apps = Dictionary((configured.apps + added).map { ($0.id, $0) }) { one, other in
      AuthorizedApp(
        id: one.id, regions: one.regions.union(other.regions),
        authorities: one.authorities.union(other.authorities))
    }
    let configuredIssuers = Set(configured.authorities.map(\.issuer))
    ignoredIssuers = stored.authorities.map(\.issuer).filter(configuredIssuers.contains)
    // Of two with the same issuer the first one counts: that of the configuration.
    let fixed = Dictionary(configured.authorities.map { ($0.issuer, $0) }) { first, other in
      var first = first
      first.seesStatistics = first.seesStatistics || other.seesStatistics
      return first
    }
    let known = fixed.merging(stored.authorities.map { ($0.issuer, $0) }) { first, _ in first }
    authorities = known
    let keys = known.mapValues { authority in
      let fixed = authority.publicKeysPEM.map {
        AuthorityKey(
          keyID: $0.key, publicKeyPEM: $0.value, goodFrom: .distantPast, goodUntil: nil,
          isPulled: false)
      }
      guard !own.contains(authority.issuer) else { return fixed }
      let names = Set(fixed.map(\.keyID))
      // Pulled keys of an authority of the configuration are stored.
      return fixed + (stored.keys[authority.issuer] ?? []).filter { !names.contains($0.keyID) }
    }
    self.keys = keys
    certificates = CertificateVerifier(
      authorities: known.values.map { Self.authority($0, keys: keys[$0.issuer] ?? []) })
  }

  private static func authority(
    _ authority: HealthAuthority, keys: [AuthorityKey]
  ) -> CertificateAuthority {
    keys.filter { $0.withdrawnAt == nil }.reduce(
      CertificateAuthority(issuer: authority.issuer, audience: authority.audience)
    ) { authority, key in
      // Keys are checked before they are stored; a damaged one is left out, so that the others stay valid.
      let more = try? authority.adding(
        keyID: key.keyID, publicKeyPEM: key.publicKeyPEM, from: key.goodFrom,
        until: key.goodUntil ?? .distantFuture)
      return more ?? authority
    }
  }

  /// The key of `issuer` with that id, if it is valid at `now`.
  func key(_ keyID: String, of issuer: String, at now: Date) -> P256.Signing.PublicKey? {
    let key = keys[issuer]?.last { $0.keyID == keyID && $0.isGood(at: now) }
    // As above: a damaged key verifies nothing.
    return key.flatMap { try? P256.Signing.PublicKey(pemRepresentation: $0.publicKeyPEM) }
  }
}

/// The apps and authorities of the configuration.
struct ConfiguredRegistry: Sendable {
  /// The issuer of upload tokens that is no realm.
  let issuer: String
  let realms: [TokenAuthority]
  let entries: RegistryEntries
  let tokens: TokenVerifiers

  /// The issuers of upload tokens, whose keys only the configuration has.
  var ownIssuers: Set<String> { Set(realms.map(\.issuer)).union([issuer]) }

  /// A stored app without the regions and authorities of realms; nil without a region of its own, and for an app of a
  /// realm, which only its realm.json changes.
  func limited(_ app: AuthorizedApp) -> AuthorizedApp? {
    guard !realms.contains(where: { $0.apps.contains(app.id) }) else { return nil }
    let regions = app.regions.subtracting(realms.flatMap(\.regions))
    // An app without regions would get those of the configuration.
    guard app.regions.isEmpty || !regions.isEmpty else { return nil }
    var app = app
    app.regions = regions
    app.authorities.subtract(realms.map(\.issuer))
    return app
  }
}

/// The apps and authorities of the configuration or of the database.
struct RegistryEntries: Hashable, Sendable {
  var apps: [AuthorizedApp] = []
  var authorities: [HealthAuthority] = []
  /// The keys with a validity, by issuer.
  var keys: [String: [AuthorityKey]] = [:]
  /// The issuer of our own verification server at the last start; nil before the first one.
  var servedIssuer: String?
}
