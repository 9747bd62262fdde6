import Foundation
import GRDB

extension SQLiteKeyStore {
  func registryEntries() async throws -> RegistryEntries {
    try await pool.read { db in
      var entries = RegistryEntries()
      entries.apps = try AppRow.order(Column("id")).fetchAll(db).map { row in
        row.app(issuers: try AppAuthorityRow.of(row.id).fetchAll(db).map(\.issuer))
      }
      entries.authorities = try AuthorityRow.order(Column("issuer")).fetchAll(db).map(\.authority)
      let keys = try AuthorityKeyRow.order(Column("good_from"), Column("key_id")).fetchAll(db)
      for row in keys { entries.keys[row.issuer, default: []].append(row.key) }
      return entries
    }
  }

  func add(_ app: AuthorizedApp) async throws {
    try await pool.write { db in
      _ = try AppRow.deleteOne(db, key: app.id)
      try AppRow(app).insert(db)
      try AppAuthorityRow.of(app.id).deleteAll(db)
      for issuer in app.authorities {
        try AppAuthorityRow(appID: app.id, issuer: issuer).insert(db)
      }
    }
  }

  func add(_ authority: HealthAuthority) async throws {
    try await pool.write { db in
      _ = try AuthorityRow.deleteOne(db, key: authority.issuer)
      try AuthorityRow(authority).insert(db)
      try Self.changeKeys(of: authority.issuer, in: db) {
        AuthorityKeyRule.adding(authority.publicKeysPEM, isPulled: false, to: $0)
      }
    }
  }

  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws {
    try await pool.write { db in
      try Self.changeKeys(of: issuer, in: db) {
        AuthorityKeyRule.pulling(keys, into: $0, at: now, othersEnd: end)
      }
    }
  }

  private static func changeKeys(
    of issuer: String, in db: Database, _ rule: ([AuthorityKey]) -> [AuthorityKey]
  ) throws {
    let known = try AuthorityKeyRow.of(issuer).fetchAll(db).map(\.key)
    try AuthorityKeyRow.of(issuer).deleteAll(db)
    for key in rule(known) { try AuthorityKeyRow(key, of: issuer).insert(db) }
  }

  func revisionKeys() async throws -> [SealedRevisionKey] {
    try await pool.read { db in
      try RevisionKeyRow.order(Column("effective_from"), Column("key_id")).fetchAll(db).map(\.key)
    }
  }

  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws {
    try await pool.write { db in
      try RevisionKeyRow(key).insert(db)
      for id in ids { _ = try RevisionKeyRow.deleteOne(db, key: id) }
    }
  }

  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount] {
    try await pool.read { db in
      try StatisticRow.fetchAll(
        db, sql: "SELECT * FROM statistic WHERE issuer = ? AND hour >= ?",
        arguments: [issuer, start]
      ).compactMap(\.statisticCount)
    }
  }
}
