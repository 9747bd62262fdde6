// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import World

extension SQLiteKeyStore {
  func registryEntries() async throws -> RegistryEntries {
    try await database.read { try Self.registryEntries(in: $0) }
  }

  /// The same entries, for the start of a server.
  func storedRegistry() throws -> RegistryEntries {
    try database.pool.read { try Self.registryEntries(in: $0) }
  }

  private static func registryEntries(in db: Database) throws -> RegistryEntries {
    var entries = RegistryEntries()
    entries.apps = try AppRow.order(Column("id")).fetchAll(db).map { row in
      row.app(issuers: try AppAuthorityRow.of(row.id).fetchAll(db).map(\.issuer))
    }
    entries.authorities = try AuthorityRow.order(Column("issuer")).fetchAll(db).map(\.authority)
    let keys = try AuthorityKeyRow.order(Column("good_from"), Column("key_id")).fetchAll(db)
    for row in keys { entries.keys[row.issuer, default: []].append(row.key) }
    entries.servedIssuer = try String.fetchOne(db, sql: "SELECT served_issuer FROM server_state")
    return entries
  }

  /// Stores the issuer that the server starts with.
  func keepServedIssuer(_ issuer: String) throws {
    try database.write {
      try $0.execute(
        sql: "UPDATE server_state SET served_issuer = ? WHERE served_issuer IS NOT ?",
        arguments: [issuer, issuer])
    }
  }

  func changeApp(
    _ id: String,
    _ change: @escaping @Sendable (AuthorizedApp?, RegistryEntries) throws -> AuthorizedApp
  ) async throws {
    try await write { db in
      let entries = try Self.registryEntries(in: db)
      let app = try change(entries.apps.first { $0.id == id }, entries)
      try AppRow(app).save(db)
      try AppAuthorityRow.of(app.id).filter(!app.authorities.contains(Column("issuer")))
        .deleteAll(db)
      for issuer in app.authorities {
        try AppAuthorityRow(appID: app.id, issuer: issuer).insert(db, onConflict: .ignore)
      }
    }
  }

  func removeApp(_ id: String) async throws -> Bool {
    try await write { db in
      try AppAuthorityRow.of(id).deleteAll(db)
      return try AppRow.deleteOne(db, key: id)
    }
  }

  func changeAuthority(
    _ issuer: String,
    _ change: @escaping @Sendable (HealthAuthority?, RegistryEntries) throws -> HealthAuthority
  ) async throws {
    try await write { db in
      let entries = try Self.registryEntries(in: db)
      let stored = entries.authorities.first { $0.issuer == issuer }
      let authority = try change(stored, entries)
      try AuthorityRow(authority).save(db)
      _ = try Self.changeKeys(of: authority.issuer, in: db) { known in
        AuthorityKeyRule.adding(
          authority.publicKeysPEM, isPulled: false,
          to: AuthorityKeyRule.keeping(known, of: stored, changedTo: authority))
      }
    }
  }

  func removeAuthority(_ issuer: String) async throws -> Bool {
    try await write { db in
      let isKnown = try AuthorityRow.deleteOne(db, key: issuer)
      _ = try Self.changeKeys(of: issuer, in: db) { AuthorityKeyRule.removing($0) }
      try AppAuthorityRow.filter(Column("issuer") == issuer).deleteAll(db)
      return isKnown
    }
  }

  func withdrawKey(_ keyID: String, of issuer: String, at now: Date) async throws -> Bool {
    try await write { db in
      try Self.changeKeys(of: issuer, in: db) {
        AuthorityKeyRule.withdrawing(keyID, from: $0, at: now)
      }
    }
  }

  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws -> Bool {
    let pulling: @Sendable ([AuthorityKey]) -> [AuthorityKey] = {
      AuthorityKeyRule.pulling(keys, into: $0, at: now, othersEnd: end)
    }
    // Most pages have not changed: reading delays no upload.
    let known = try await database.read { db in
      try AuthorityKeyRow.of(issuer).fetchAll(db).map(\.key)
    }
    guard Set(pulling(known)) != Set(known) else { return false }
    return try await write { db in try Self.changeKeys(of: issuer, in: db, pulling) }
  }

  /// Returns true if `rule` changed a key. Only keys that it leaves out are removed, because removals are recorded.
  private static func changeKeys(
    of issuer: String, in db: Database, _ rule: ([AuthorityKey]) -> [AuthorityKey]
  ) throws -> Bool {
    let known = try AuthorityKeyRow.of(issuer).fetchAll(db).map(\.key)
    let changed = rule(known)
    guard Set(changed) != Set(known) else { return false }
    let kept = Set(changed.map { [$0.keyID, $0.publicKeyPEM] })
    for key in known where !kept.contains([key.keyID, key.publicKeyPEM]) {
      try AuthorityKeyRow(key, of: issuer).delete(db)
    }
    for key in changed { try AuthorityKeyRow(key, of: issuer).save(db) }
    return true
  }

  func revisionKeys() async throws -> [SealedRevisionKey] {
    try await database.read { db in
      try RevisionKeyRow.order(Column("effective_from"), Column("key_id")).fetchAll(db).map(\.key)
    }
  }

  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws {
    try await write { db in
      try RevisionKeyRow(key).insert(db)
      for id in ids { _ = try RevisionKeyRow.deleteOne(db, key: id) }
    }
  }

  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount] {
    try await database.read { db in
      try StatisticRow.fetchAll(
        db, sql: "SELECT * FROM statistic WHERE issuer = ? AND hour >= ?",
        arguments: [issuer, start]
      ).compactMap(\.statisticCount)
    }
  }
}

/// A row of `app`. Regions are comma-separated and sorted; the authorities are in `app_authority`.
private struct AppRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "app"

  var id: String
  var regions: String

  init(_ app: AuthorizedApp) {
    id = app.id
    regions = app.regions.sorted().joined(separator: ",")
  }

  func app(issuers: [String]) -> AuthorizedApp {
    AuthorizedApp(
      id: id, regions: Set(regions.split(separator: ",").map(String.init)),
      authorities: Set(issuers))
  }
}

/// A row of `app_authority`: the app may use certificates of the issuer.
private struct AppAuthorityRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "app_authority"

  var appID: String
  var issuer: String

  private enum CodingKeys: String, CodingKey {
    case appID = "app_id"
    case issuer
  }

  static func of(_ app: String) -> QueryInterfaceRequest<AppAuthorityRow> {
    filter(Column("app_id") == app)
  }
}

/// A row of `authority`. The keys are in `authority_key`.
private struct AuthorityRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "authority"

  var issuer: String
  var audience: String
  var jwksURL: String?
  var seesStatistics: Bool

  private enum CodingKeys: String, CodingKey {
    case issuer, audience
    case jwksURL = "jwks_url"
    case seesStatistics = "sees_statistics"
  }

  init(_ authority: HealthAuthority) {
    issuer = authority.issuer
    audience = authority.audience
    jwksURL = authority.jwksURL?.absoluteString
    seesStatistics = authority.seesStatistics
  }

  var authority: HealthAuthority {
    HealthAuthority(
      issuer: issuer, audience: audience, jwksURL: jwksURL.flatMap { URL(string: $0) },
      seesStatistics: seesStatistics)
  }
}

/// A row of `authority_key`. Times are Unix seconds.
private struct AuthorityKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "authority_key"

  var issuer: String
  var keyID: String
  var publicKey: String
  var goodFrom: Int64
  var goodUntil: Int64?
  var isPulled: Bool
  var withdrawnAt: Int64?

  private enum CodingKeys: String, CodingKey {
    case issuer
    case keyID = "key_id"
    case publicKey = "public_key"
    case goodFrom = "good_from"
    case goodUntil = "good_until"
    case isPulled = "is_pulled"
    case withdrawnAt = "withdrawn_at"
  }

  init(_ key: AuthorityKey, of issuer: String) {
    self.issuer = issuer
    keyID = key.keyID
    publicKey = key.publicKeyPEM
    goodFrom = key.goodFrom.unixSecond
    goodUntil = key.goodUntil?.unixSecond
    isPulled = key.isPulled
    withdrawnAt = key.withdrawnAt?.unixSecond
  }

  var key: AuthorityKey {
    AuthorityKey(
      keyID: keyID, publicKeyPEM: publicKey,
      goodFrom: Date(unixSecond: goodFrom),
      goodUntil: goodUntil.map { Date(unixSecond: $0) }, isPulled: isPulled,
      withdrawnAt: withdrawnAt.map { Date(unixSecond: $0) })
  }

  static func of(_ issuer: String) -> QueryInterfaceRequest<AuthorityKeyRow> {
    filter(Column("issuer") == issuer).order(Column("key_id"))
  }
}

/// A row of `revision_key`. The time is in Unix seconds.
private struct RevisionKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "revision_key"

  var keyID: String
  var sealed: Data
  var effectiveFrom: Int64

  private enum CodingKeys: String, CodingKey {
    case keyID = "key_id"
    case sealed
    case effectiveFrom = "effective_from"
  }

  init(_ key: SealedRevisionKey) {
    keyID = key.id
    sealed = key.sealed
    effectiveFrom = key.effectiveFrom.unixSecond
  }

  var key: SealedRevisionKey {
    SealedRevisionKey(
      id: keyID, sealed: sealed,
      effectiveFrom: Date(unixSecond: effectiveFrom))
  }
}

/// A row of `statistic`. The hour is in Unix seconds.
private struct StatisticRow: Codable, FetchableRecord, Sendable {
  var hour: Int64
  var issuer: String
  var kind: String
  var bucket: Int
  var count: Int

  /// Nil if a newer version wrote the row with an unknown kind.
  var statisticCount: StatisticCount? {
    StatisticKind(rawValue: kind).map {
      StatisticCount(
        place: .init(hour: hour, issuer: issuer, kind: $0, bucket: bucket), count: count)
    }
  }
}
