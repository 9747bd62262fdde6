// SPDX-License-Identifier: Apache-2.0
import KeyServer
import Settings
import Terminal

/// An app that may publish.
package struct RegisteredApp: Sendable {
  package let app: AuthorizedApp
  /// True if the app is in the settings, where alone it can be changed.
  package let isInSettings: Bool
}

/// An authority whose certificates are accepted.
package struct RegisteredAuthority: Sendable {
  package let authority: HealthAuthority
  /// The ids of the keys that are refused for good.
  package let withdrawnKeyIDs: [String]
  /// True for our own verification server and those of realms, which no operation can change.
  package let isOwn: Bool
  /// True for a stored authority that the server ignores, because the settings or a realm have its issuer.
  package let isIgnored: Bool

  /// The ids of the keys that are accepted, sorted.
  package var keyIDs: [String] { authority.publicKeysPEM.keys.sorted() }
}

/// The apps and authorities of the key server: those of the settings, then the added ones.
extension ServerSetup {
  /// The apps that may publish.
  ///
  /// - Throws: `CommandFailure` if the key server has no database yet.
  package func registeredApps() async throws -> [RegisteredApp] {
    let settings = try keySettings().configuration
    let own = settings.appPackages.sorted().map {
      AuthorizedApp(id: $0, regions: settings.regions, authorities: [settings.tokenIssuer])
    }
    let added = try await withRegistry { try await $0.apps() }
    let realms = try folder.realms.flatMap { realm in
      let issuer = try setup(of: realm).verificationSettings().issuer
      return realm.properties.apps.sorted().map {
        AuthorizedApp(id: $0, regions: Set(realm.properties.regions), authorities: [issuer])
      }
    }
    return (own + realms).map { RegisteredApp(app: $0, isInSettings: true) }
      + added.map { RegisteredApp(app: $0, isInSettings: false) }
  }

  /// The authorities whose certificates are accepted.
  ///
  /// - Throws: `CommandFailure` if the key server has no database yet.
  package func registeredAuthorities() async throws -> [RegisteredAuthority] {
    let settings = try keySettings().configuration
    // Before the first start there is no file.
    let tokenKeys = (try? folder.tokenPublicKeys.read()) ?? [:]
    let own = HealthAuthority(
      issuer: settings.tokenIssuer, audience: settings.tokenAudience, publicKeysPEM: tokenKeys,
      seesStatistics: true)
    let realms = try folder.realms.map(authority)
    let fixed = Set([own.issuer] + realms.map(\.issuer))
    let added = try await withRegistry { registry in
      var added: [RegisteredAuthority] = []
      for authority in try await registry.authorities() {
        added.append(
          RegisteredAuthority(
            authority: authority,
            withdrawnKeyIDs: try await registry.withdrawnKeyIDs(of: authority.issuer),
            isOwn: false, isIgnored: fixed.contains(authority.issuer)))
      }
      return added
    }
    return ([own] + realms).map {
      RegisteredAuthority(authority: $0, withdrawnKeyIDs: [], isOwn: true, isIgnored: false)
    } + added
  }

  /// The authority of a realm.
  private func authority(of realm: Realm) throws -> HealthAuthority {
    let settings = try setup(of: realm).verificationSettings()
    return HealthAuthority(
      issuer: settings.issuer, audience: settings.audience,
      // Without the file the uploads of the realm are refused.
      publicKeysPEM: (try? realm.folder.tokenPublicKeys.read()) ?? [:], seesStatistics: true)
  }
}
