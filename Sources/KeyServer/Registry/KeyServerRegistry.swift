// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import World

/// Stores apps and authorities in a key server's database, while the server runs or not.
///
/// A running server reads the changes within a minute.
public struct KeyServerRegistry: Sendable {
  private let store: any KeyStore
  private let configuration: KeyServerConfiguration?
  private let clock: any WallClock

  /// Opens the database, or creates it.
  ///
  /// - Parameter configuration: The configuration of the server, whose apps and authorities nothing may replace; nil
  ///   for no check.
  /// - Throws: `KeyServerError.database`, or `.newerDatabase` if a newer version has migrated it.
  public init(
    databaseFile: URL, configuration: KeyServerConfiguration? = nil,
    clock: any WallClock = SystemClock()
  ) throws(KeyServerError) {
    store = try KeyServerComposition.store(
      at: databaseFile, or: configuration?.databaseAddress)
    self.configuration = configuration
    self.clock = clock
  }

  /// Adds an authority with its keys. One of the same issuer gets all these properties, and keeps its other keys.
  ///
  /// - Throws: `.configuration` if a value is invalid, or the issuer is that of the server itself or looks like
  ///   another one; `.unavailable` if it cannot be stored.
  public func add(_ authority: HealthAuthority) async throws(KeyServerError) {
    var change = HealthAuthorityChange(issuer: authority.issuer)
    change.audience = authority.audience
    change.addedKeysPEM = authority.publicKeysPEM
    change.jwksURL = authority.jwksURL
    change.removesJWKSURL = authority.jwksURL == nil
    change.seesStatistics = authority.seesStatistics
    try authority.checked()
    try await apply(change)
  }

  /// Adds an authority, or changes those properties of a stored one that `change` has.
  ///
  /// - Returns: The stored authority, without keys.
  /// - Throws: As `add(_:)`.
  @discardableResult
  public func apply(
    _ change: HealthAuthorityChange
  ) async throws(KeyServerError) -> HealthAuthority {
    let (names, change) = (RegistryNames(configuration), change.normalized)
    try await storing {
      try await store.changeAuthority(change.issuer) { stored, entries in
        try names.authority(after: change, of: stored, in: entries)
      }
    }
    let stored = try await authorities().first { $0.issuer == change.issuer }
    guard let stored else { throw .unavailable }
    return stored
  }

  /// Checks a change as `apply(_:)` does, and stores nothing.
  ///
  /// - Throws: As `add(_:)`.
  package func check(_ change: HealthAuthorityChange) async throws(KeyServerError) {
    let (names, change) = (RegistryNames(configuration), change.normalized)
    try await storing {
      let entries = try await store.registryEntries()
      let stored = entries.authorities.first { $0.issuer == change.issuer }
      _ = try names.authority(after: change, of: stored, in: entries)
    }
  }

  /// Removes an authority with its keys, and from the apps that use it. Withdrawn keys stay withdrawn.
  ///
  /// - Returns: False if there is no such stored authority.
  public func removeAuthority(_ issuer: String) async throws(KeyServerError) -> Bool {
    try await storing { try await store.removeAuthority(issuer) }
  }

  /// Withdraws a key of an authority: its certificates are refused from then on, and the key cannot be added again.
  ///
  /// - Returns: False if there is no such key, or it was withdrawn before.
  public func withdrawKey(
    _ keyID: String, of issuer: String
  ) async throws(KeyServerError) -> Bool {
    let now = clock.now
    return try await storing { try await store.withdrawKey(keyID, of: issuer, at: now) }
  }

  /// Adds an app. One of the same id is replaced.
  ///
  /// - Throws: `.configuration` if a value is invalid, an authority is unknown, or no export includes the keys of a
  ///   region; `.unavailable` if it cannot be stored.
  public func add(_ app: AuthorizedApp) async throws(KeyServerError) {
    try await changeApp(app.id, regions: app.regions, authorities: app.authorities)
  }

  /// Adds an app, or changes a stored one, which keeps its regions or authorities if they are nil.
  ///
  /// - Returns: The stored app.
  /// - Throws: As `add(_:)`.
  @discardableResult
  public func changeApp(
    _ id: String, regions: Set<String>?, authorities: Set<String>?
  ) async throws(KeyServerError) -> AuthorizedApp {
    let (names, configuration) = (RegistryNames(configuration), configuration)
    try await storing {
      try await store.changeApp(id) { stored, entries in
        guard let regions = regions ?? stored?.regions,
          let authorities = authorities ?? stored?.authorities
        else { throw KeyServerError.configuration("A new app needs regions and authorities.") }
        let app = AuthorizedApp(id: id, regions: regions, authorities: authorities)
        try names.check(app, in: entries)
        if let fault = configuration?.appWithoutExport(among: [app]) {
          throw KeyServerError.configuration(fault)
        }
        return app
      }
    }
    guard let app = try await apps().first(where: { $0.id == id }) else { throw .unavailable }
    return app
  }

  /// Checks a new or changed app as `changeApp(_:regions:authorities:)` does, and stores nothing.
  ///
  /// - Throws: As `add(_:)`.
  package func checkApp(
    _ id: String, regions: Set<String>, authorities: Set<String>
  ) async throws(KeyServerError) {
    let app = AuthorizedApp(id: id, regions: regions, authorities: authorities)
    let names = RegistryNames(configuration)
    try await storing { try names.check(app, in: try await store.registryEntries()) }
    if let fault = configuration?.appWithoutExport(among: [app]) { throw .configuration(fault) }
  }

  /// Removes an app; apps of the configuration stay.
  ///
  /// - Returns: False if there is no such stored app.
  public func removeApp(_ id: String) async throws(KeyServerError) -> Bool {
    try await storing { try await store.removeApp(id) }
  }

  /// The stored apps.
  public func apps() async throws(KeyServerError) -> [AuthorizedApp] {
    try await storing { try await store.registryEntries().apps }
  }

  /// The stored authorities, with the keys that have no end.
  public func authorities() async throws(KeyServerError) -> [HealthAuthority] {
    try await storing {
      let entries = try await store.registryEntries()
      return entries.authorities.map { authority in
        var authority = authority
        let keys = (entries.keys[authority.issuer] ?? []).filter {
          $0.goodUntil == nil && $0.withdrawnAt == nil
        }
        authority.publicKeysPEM = Dictionary(
          keys.map { ($0.keyID, $0.publicKeyPEM) }
        ) { $1 }
        return authority
      }
    }
  }

  /// The ids of the withdrawn keys of an authority, sorted.
  public func withdrawnKeyIDs(of issuer: String) async throws(KeyServerError) -> [String] {
    try await storing {
      (try await store.registryEntries().keys[issuer] ?? []).filter { $0.withdrawnAt != nil }
        .map(\.keyID).sorted()
    }
  }

  private func storing<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws(KeyServerError) -> Value {
    do {
      return try await work()
    } catch let error as KeyServerError {
      throw error
    } catch {
      throw .unavailable
    }
  }
}

/// The names of the configuration, which stored entries must not have and must not resemble.
struct RegistryNames: Sendable {
  /// The issuer of our own verification server.
  let ownIssuer: String?
  /// The issuers of the configuration.
  let issuers: Set<String>
  /// The apps of the configuration.
  let apps: Set<String>
  /// The apps of the realms, which no stored app may extend.
  let realmApps: Set<String>
  /// The issuers of the realms, whose certificates are for their own apps only.
  let realmIssuers: Set<String>
  /// The regions of the realms, which no stored app may have.
  let realmRegions: Set<String>

  init(_ configuration: KeyServerConfiguration?) {
    let entries = configuration?.registryEntries([:]) ?? RegistryEntries()
    ownIssuer = configuration?.tokenIssuer
    issuers = Set(entries.authorities.map(\.issuer))
    apps = Set(entries.apps.map(\.id))
    realmApps = Set((configuration?.realms ?? []).flatMap(\.apps))
    realmIssuers = configuration?.realmIssuers ?? []
    realmRegions = configuration?.realmRegions ?? []
  }

  /// The authority after a change of `stored`.
  ///
  /// - Throws: `KeyServerError.configuration` if the change is not allowed.
  func authority(
    after change: HealthAuthorityChange, of stored: HealthAuthority?, in entries: RegistryEntries
  ) throws(KeyServerError) -> HealthAuthority {
    try checkIssuer(change.issuer, in: entries)
    for (id, pem) in change.addedKeysPEM {
      try checkKey(id, pem, of: change.issuer, in: entries)
    }
    if change.replacesNothing { try checkReplacement(change, of: stored, in: entries) }
    return try change.applied(to: stored)
  }

  /// Rejects an app with an invalid value or an unknown authority.
  func check(_ app: AuthorizedApp, in entries: RegistryEntries) throws(KeyServerError) {
    try app.checked()
    try checkApp(app.id, in: entries)
    guard !realmApps.contains(app.id), app.authorities.isDisjoint(with: realmIssuers) else {
      throw .configuration(
        "The app \(app.id) would use an authority that has apps of its own: name another app or"
          + " authority.")
    }
    if let region = app.regions.intersection(realmRegions).min() {
      throw .configuration(
        "The region \(region) of the app \(app.id) is that of a realm: leave it out.")
    }
    let known = issuers.union(entries.authorities.map(\.issuer))
    if let unknown = app.authorities.sorted().first(where: { !known.contains($0) }) {
      throw .configuration("The authority \(unknown) is unknown: add it first.")
    }
  }

  /// Rejects an issuer of the configuration, and one that looks like another issuer.
  func checkIssuer(_ issuer: String, in stored: RegistryEntries) throws(KeyServerError) {
    if issuers.contains(issuer) || issuer == stored.servedIssuer {
      throw .configuration(
        issuer == ownIssuer || issuer == stored.servedIssuer
          ? "\(issuer) is the issuer of our own verification server: its keys come from that server"
            + " and cannot be added. Name it as an authority of an app without adding it."
          : "\(issuer) is an authority of the configuration: change it there.")
    }
    let served = stored.servedIssuer.map { [$0] } ?? []
    let known = issuers.union(stored.authorities.map(\.issuer)).union(served)
    if let other = Self.lookAlike(of: issuer, among: known) {
      throw .configuration(
        "The issuer \(issuer) looks like the known issuer \(other): use that one, or a name that"
          + " nobody can confuse with it.")
    }
  }

  /// Rejects an app that looks like another one. A stored app may extend one of the configuration.
  func checkApp(_ id: String, in stored: RegistryEntries) throws(KeyServerError) {
    guard let other = Self.lookAlike(of: id, among: apps.union(stored.apps.map(\.id))) else {
      return
    }
    throw .configuration(
      "The app \(id) looks like the known app \(other): check the spelling.")
  }

  /// Rejects a withdrawn key.
  func checkKey(
    _ id: String, _ pem: String, of issuer: String, in stored: RegistryEntries
  ) throws(KeyServerError) {
    guard AuthorityKeyRule.isWithdrawn(id, pem, in: stored.keys[issuer] ?? []) else { return }
    throw .configuration(
      "The key \(id) of \(issuer) was withdrawn and cannot be added again: add a new key with"
        + " another id.")
  }

  /// Rejects a change that replaces the audience or a key of a known authority.
  private func checkReplacement(
    _ change: HealthAuthorityChange, of stored: HealthAuthority?, in entries: RegistryEntries
  ) throws(KeyServerError) {
    guard let stored else { return }
    guard change.audience == nil || change.audience == stored.audience else {
      throw .configuration(
        "The audience of \(change.issuer) is \(stored.audience): leave it, or remove the authority first."
      )
    }
    for (id, pem) in change.addedKeysPEM {
      guard AuthorityKeyRule.isOther(id, pem, than: entries.keys[change.issuer] ?? []) else {
        continue
      }
      throw .configuration(
        "\(change.issuer) has another key with the id \(id): give the new key another id.")
    }
  }

  private static func lookAlike(of name: String, among known: Set<String>) -> String? {
    guard !known.contains(name) else { return nil }
    let shape = LookAlikeName(name)
    return known.sorted().first { LookAlikeName($0) == shape }
  }
}
