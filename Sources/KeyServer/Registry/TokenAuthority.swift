// SPDX-License-Identifier: Apache-2.0
import ServerStorage

/// An authority whose verification server signs upload tokens and certificates for apps and regions of its own.
package struct TokenAuthority: Sendable {
  /// The `iss` of its tokens and certificates.
  package let issuer: String
  /// The `aud` of its tokens and certificates.
  package let audience: String
  /// Its public keys in PEM, by key id.
  package let publicKeysPEM: [String: String]
  /// Reloads those keys; nil to use `publicKeysPEM`. If it throws or returns no key, the known keys stay valid.
  package let readPublicKeysPEM: (@Sendable () throws -> [String: String])?
  /// The apps that may upload with its tokens and certificates, and with those of no other authority.
  package let apps: Set<String>
  /// The regions of its apps' keys.
  package let regions: Set<String>

  /// Creates an authority; `checked()` of the configuration validates it.
  package init(
    issuer: String, audience: String, publicKeysPEM: [String: String] = [:],
    readPublicKeysPEM: (@Sendable () throws -> [String: String])? = nil, apps: Set<String>,
    regions: Set<String>
  ) {
    self.issuer = issuer
    self.audience = audience
    self.publicKeysPEM = publicKeysPEM
    self.readPublicKeysPEM = readPublicKeysPEM
    self.apps = apps
    self.regions = regions
  }
}

extension KeyServerConfiguration {
  /// The authorities with token keys: that of `tokenIssuer`, then those of the realms.
  var tokenAuthorities: [TokenAuthority] {
    [
      TokenAuthority(
        issuer: tokenIssuer, audience: tokenAudience, publicKeysPEM: tokenPublicKeysPEM,
        readPublicKeysPEM: readTokenPublicKeysPEM, apps: appPackages, regions: regions)
    ] + realms
  }

  /// The issuers of the realms.
  var realmIssuers: Set<String> { Set(realms.map(\.issuer)) }

  /// The regions of the realms.
  var realmRegions: Set<String> { Set(realms.flatMap(\.regions)) }

  /// The file name roots of the exports of each realm's regions, by its issuer.
  var rootsOfRealms: [String: Set<String>] {
    let exports = exports
    let roots = realms.map { realm in
      let own = exports.filter { realm.regions.contains($0.region) }
      return (realm.issuer, Set(own.map(\.filenameRoot)))
    }
    return Dictionary(roots) { first, _ in first }
  }

  /// Rejects realms that share an app or a region with another authority.
  func checkRealms() throws(KeyServerError) {
    for realm in realms {
      guard !realm.apps.isEmpty, !realm.regions.isEmpty else {
        throw .configuration(
          "The authority \(realm.issuer) needs an app and a region of its own: name them in its realm.json."
        )
      }
      if let fault = AuthorizedApp.fault(inRegions: realm.regions) {
        throw .configuration("The authority \(realm.issuer): \(fault)")
      }
      guard !realm.regions.contains(CanaryUploads.region) else {
        throw .configuration(
          "The region \(CanaryUploads.region) is that of the canary: name another for"
            + " \(realm.issuer).")
      }
    }
    var apps: [LookAlikeName: (app: String, issuer: String)] = [:]
    var owners: [String: String] = [:]
    for (index, authority) in tokenAuthorities.enumerated() {
      for app in authority.apps.sorted() {
        try Self.claim(app, of: authority.issuer, in: &apps, isRealm: index > 0)
      }
      let more = index == 0 ? [region, publish.defaultRegion].compactMap(\.self) : []
      let regions = authority.regions.union(more)
      for region in regions.sorted() {
        if let owner = owners.updateValue(authority.issuer, forKey: region) {
          throw .configuration(
            "The region \(region) is one of \(owner) and of \(authority.issuer): a region belongs to one"
              + " authority.")
        }
      }
    }
    try checkFurtherApps(apps)
  }

  /// Notes that `app` belongs to `issuer`. The apps of one authority may look alike if that is not a realm, as before.
  private static func claim(
    _ app: String, of issuer: String,
    in apps: inout [LookAlikeName: (app: String, issuer: String)],
    isRealm: Bool
  ) throws(KeyServerError) {
    let name = LookAlikeName(app)
    if isRealm, app.isEmpty || app == CanaryUploads.app {
      throw .configuration("The authority \(issuer) cannot have the app '\(app)': name another.")
    }
    if let other = apps.updateValue((app, issuer), forKey: name), other.issuer != issuer {
      throw .configuration(
        "The app \(app) of \(issuer) is the same as \(other.app) of \(other.issuer), or looks like it: an app"
          + " belongs to one authority.")
    }
  }

  /// Rejects further apps that are those of a realm, use its certificates, or publish in its regions.
  private func checkFurtherApps(
    _ owned: [LookAlikeName: (app: String, issuer: String)]
  ) throws(KeyServerError) {
    for app in apps {
      if let region = app.regions.intersection(realmRegions).min() {
        throw .configuration(
          "The region \(region) of the app \(app.id) is that of a realm: leave it out.")
      }
      let owner = owned[LookAlikeName(app.id)].map(\.issuer)
      let issuers = app.authorities.union([owner].compactMap(\.self))
      guard let realm = issuers.intersection(realmIssuers).min() else { continue }
      throw .configuration("The app \(app.id) cannot use the authority \(realm) of a realm.")
    }
  }
}
