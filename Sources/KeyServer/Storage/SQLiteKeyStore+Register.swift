import Foundation
import GRDB

extension SQLiteKeyStore {
  func registerEntries() async throws -> RegisterEntries {
    try await pool.read { db in
      var entries = RegisterEntries()
      entries.apps = try Row.fetchAll(db, sql: "SELECT id, regions FROM app ORDER BY id").map {
        row in
        let id: String = row["id"]
        let regions: String = row["regions"]
        let issuers = try String.fetchAll(
          db, sql: "SELECT issuer FROM app_authority WHERE app_id = ?", arguments: [id])
        return AuthorizedApp(
          id: id, regions: Set(regions.split(separator: ",").map(String.init)),
          authorities: Set(issuers))
      }
      entries.authorities = try Row.fetchAll(db, sql: "SELECT * FROM authority ORDER BY issuer").map
      {
        row in
        let jwks: String? = row["jwks_url"]
        return HealthAuthority(
          issuer: row["issuer"], audience: row["audience"], jwksURL: jwks.flatMap(URL.init),
          seesStatistics: row["sees_statistics"])
      }
      for row in try Row.fetchAll(db, sql: "SELECT * FROM authority_key ORDER BY good_from") {
        entries.keys[row["issuer"], default: []].append(AuthorityKey(row: row))
      }
      return entries
    }
  }

  func add(_ app: AuthorizedApp) async throws {
    try await pool.write { db in
      try db.execute(
        sql: """
          INSERT INTO app (id, regions) VALUES (?, ?)
          ON CONFLICT (id) DO UPDATE SET regions = excluded.regions
          """, arguments: [app.id, app.regions.sorted().joined(separator: ",")])
      try db.execute(sql: "DELETE FROM app_authority WHERE app_id = ?", arguments: [app.id])
      for issuer in app.authorities {
        try db.execute(
          sql: "INSERT INTO app_authority (app_id, issuer) VALUES (?, ?)",
          arguments: [app.id, issuer])
      }
    }
  }

  func add(_ authority: HealthAuthority) async throws {
    try await pool.write { db in
      try db.execute(
        sql: """
          INSERT INTO authority (issuer, audience, jwks_url, sees_statistics) VALUES (?, ?, ?, ?)
          ON CONFLICT (issuer) DO UPDATE SET audience = excluded.audience,
            jwks_url = excluded.jwks_url, sees_statistics = excluded.sees_statistics
          """,
        arguments: [
          authority.issuer, authority.audience, authority.jwksURL?.absoluteString,
          authority.seesStatistics,
        ])
      for (id, pem) in authority.publicKeysPEM {
        try Self.put(pem, id, of: authority.issuer, isPulled: false, in: db)
      }
    }
  }

  func replacePulledKeys(
    of issuer: String, with keys: [String: String], at now: Date, othersEnd end: Date
  ) async throws {
    try await pool.write { db in
      let known = try String.fetchAll(
        db,
        sql: """
          SELECT key_id FROM authority_key WHERE issuer = ? AND is_pulled = 1 AND good_until IS NULL
          """, arguments: [issuer])
      for id in known where keys[id] == nil {
        try db.execute(
          sql: "UPDATE authority_key SET good_until = ? WHERE issuer = ? AND key_id = ?",
          arguments: [end.wholeSeconds, issuer, id])
      }
      for (id, pem) in keys { try Self.put(pem, id, of: issuer, isPulled: true, in: db) }
      try db.execute(
        sql: "DELETE FROM authority_key WHERE issuer = ? AND is_pulled = 1 AND good_until <= ?",
        arguments: [issuer, now.wholeSeconds])
    }
  }

  /// Writes a key down. One that is there under the same id is good again, and keeps its beginning.
  private static func put(
    _ pem: String, _ id: String, of issuer: String, isPulled: Bool, in db: Database
  ) throws {
    try db.execute(
      sql: """
        INSERT INTO authority_key (issuer, key_id, public_key, good_from, good_until, is_pulled)
        VALUES (?, ?, ?, 0, NULL, ?)
        ON CONFLICT (issuer, key_id) DO UPDATE
          SET public_key = excluded.public_key, good_until = NULL, is_pulled = excluded.is_pulled
        """, arguments: [issuer, id, pem, isPulled])
  }
}

extension AuthorityKey {
  fileprivate init(row: Row) {
    let end: Int64? = row["good_until"]
    self.init(
      keyID: row["key_id"], publicKeyPEM: row["public_key"],
      goodFrom: Date(timeIntervalSince1970: row["good_from"]),
      goodUntil: end.map { Date(timeIntervalSince1970: Double($0)) }, isPulled: row["is_pulled"])
  }
}
