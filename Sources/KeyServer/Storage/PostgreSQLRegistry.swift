// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import ServerStorage
import World

extension PostgreSQLKeyStore {
  func registryEntries() async throws -> RegistryEntries {
    try await read { try Self.registryEntries($0) }
  }

  static func registryEntries(_ transaction: PostgreSQLTransaction) throws -> RegistryEntries {
    let rows = try transaction.run([
      PostgreSQLStatement("SELECT id, regions FROM app ORDER BY id COLLATE \"C\""),
      PostgreSQLStatement("SELECT app_id, issuer FROM app_authority"),
      PostgreSQLStatement(
        """
        SELECT issuer, audience, jwks_url, sees_statistics FROM authority
        ORDER BY issuer COLLATE "C"
        """),
      PostgreSQLStatement(
        """
        SELECT \(AuthorityKeyColumns.list) FROM authority_key
        ORDER BY good_from, key_id COLLATE "C"
        """),
      PostgreSQLStatement("SELECT served_issuer FROM server_state"),
    ])
    var entries = RegistryEntries()
    var issuers: [String: Set<String>] = [:]
    for row in rows[1].indices {
      guard let app = rows[1].text(row, 0), let issuer = rows[1].text(row, 1) else { continue }
      issuers[app, default: []].insert(issuer)
    }
    entries.apps = rows[0].indices.compactMap { row in
      guard let id = rows[0].text(row, 0), let regions = rows[0].text(row, 1) else { return nil }
      return AuthorizedApp(
        id: id, regions: Set(regions.split(separator: ",").map(String.init)),
        authorities: issuers[id] ?? [])
    }
    entries.authorities = rows[2].indices.compactMap { row in
      guard let issuer = rows[2].text(row, 0), let audience = rows[2].text(row, 1) else {
        return nil
      }
      return HealthAuthority(
        issuer: issuer, audience: audience,
        jwksURL: rows[2].text(row, 2).flatMap { URL(string: $0) },
        seesStatistics: rows[2].bool(row, 3))
    }
    for row in rows[3].indices {
      guard let issuer = rows[3].text(row, 0) else { continue }
      entries.keys[issuer, default: []].append(AuthorityKeyColumns.key(rows[3], row))
    }
    entries.servedIssuer = rows[4].text(0, 0)
    return entries
  }

  func keepServedIssuer(_ issuer: String) async throws {
    try await write { transaction in
      _ = try transaction.runLast([
        PostgreSQLStatement(
          "UPDATE server_state SET served_issuer = $1 WHERE served_issuer IS DISTINCT FROM $1",
          .text(issuer))
      ])
    }
  }

  /// Runs a change of apps, authorities or keys. Changes of several processes wait for each other.
  private func changeRegistry<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await write(isRepeatable: false) { transaction in
      try transaction.run(
        "SELECT pg_advisory_xact_lock($1)",
        .integer(PostgreSQLServerDatabase.Lock.registry.rawValue))
      return try body(transaction)
    }
  }

  func changeApp(
    _ id: String,
    _ change: @escaping @Sendable (AuthorizedApp?, RegistryEntries) throws -> AuthorizedApp
  ) async throws {
    try await changeRegistry { transaction in
      let entries = try Self.registryEntries(transaction)
      let app = try change(entries.apps.first { $0.id == id }, entries)
      _ = try transaction.run([
        PostgreSQLStatement(
          """
          INSERT INTO app (id, regions) VALUES ($1, $2)
          ON CONFLICT (id) DO UPDATE SET regions = excluded.regions
          """, .text(app.id), .text(app.regions.sorted().joined(separator: ","))),
        PostgreSQLStatement(
          "DELETE FROM app_authority WHERE app_id = $1 AND issuer <> ALL ($2)", .text(app.id),
          .texts(app.authorities.sorted())),
        PostgreSQLStatement(
          """
          INSERT INTO app_authority (app_id, issuer) SELECT $1, * FROM unnest($2)
          ON CONFLICT DO NOTHING
          """, .text(app.id), .texts(app.authorities.sorted())),
      ])
    }
  }

  func removeApp(_ id: String) async throws -> Bool {
    try await changeRegistry { transaction in
      let rows = try transaction.run([
        PostgreSQLStatement("DELETE FROM app_authority WHERE app_id = $1", .text(id)),
        PostgreSQLStatement("DELETE FROM app WHERE id = $1", .text(id)),
      ])
      return rows[1].changedCount > 0
    }
  }

  func changeAuthority(
    _ issuer: String,
    _ change: @escaping @Sendable (HealthAuthority?, RegistryEntries) throws -> HealthAuthority
  ) async throws {
    try await changeRegistry { transaction in
      let entries = try Self.registryEntries(transaction)
      let stored = entries.authorities.first { $0.issuer == issuer }
      let authority = try change(stored, entries)
      try transaction.run(
        """
        INSERT INTO authority (issuer, audience, jwks_url, sees_statistics) VALUES ($1, $2, $3, $4)
        ON CONFLICT (issuer) DO UPDATE SET audience = excluded.audience,
          jwks_url = excluded.jwks_url, sees_statistics = excluded.sees_statistics
        """,
        .text(authority.issuer), .text(authority.audience),
        .text(authority.jwksURL?.absoluteString), .bool(authority.seesStatistics))
      _ = try Self.changeKeys(of: authority.issuer, transaction) { known in
        AuthorityKeyRule.adding(
          authority.publicKeysPEM, isPulled: false,
          to: AuthorityKeyRule.keeping(known, of: stored, changedTo: authority))
      }
    }
  }

  func removeAuthority(_ issuer: String) async throws -> Bool {
    try await changeRegistry { transaction in
      let rows = try transaction.run("DELETE FROM authority WHERE issuer = $1", .text(issuer))
      _ = try Self.changeKeys(of: issuer, transaction) { AuthorityKeyRule.removing($0) }
      try transaction.run("DELETE FROM app_authority WHERE issuer = $1", .text(issuer))
      return rows.changedCount > 0
    }
  }

  func withdrawKey(_ keyID: String, of issuer: String, at now: Date) async throws -> Bool {
    try await changeRegistry { transaction in
      try Self.changeKeys(of: issuer, transaction) {
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
    // Most pages have not changed: reading takes no lock.
    let known = try await read { try Self.authorityKeys(of: issuer, $0) }
    guard Set(pulling(known)) != Set(known) else { return false }
    return try await changeRegistry { try Self.changeKeys(of: issuer, $0, pulling) }
  }

  private static func authorityKeys(
    of issuer: String, _ transaction: PostgreSQLTransaction
  ) throws -> [AuthorityKey] {
    let rows = try transaction.run(
      "SELECT \(AuthorityKeyColumns.list) FROM authority_key WHERE issuer = $1 ORDER BY key_id",
      .text(issuer))
    return rows.indices.map { AuthorityKeyColumns.key(rows, $0) }
  }

  /// Returns true if `rule` changed a key.
  private static func changeKeys(
    of issuer: String, _ transaction: PostgreSQLTransaction,
    _ rule: ([AuthorityKey]) -> [AuthorityKey]
  ) throws -> Bool {
    let known = try authorityKeys(of: issuer, transaction)
    let changed = rule(known)
    guard Set(changed) != Set(known) else { return false }
    // Only keys that are left out are removed, because removals are recorded.
    let kept = Set(changed.map { [$0.keyID, $0.publicKeyPEM] })
    let removed = known.filter { !kept.contains([$0.keyID, $0.publicKeyPEM]) }
    _ = try transaction.run(
      removed.map { AuthorityKeyColumns.deletion($0, of: issuer) }
        + changed.map { AuthorityKeyColumns.insertion($0, of: issuer) })
    return true
  }
}

extension PostgreSQLKeyStore {
  func revisionKeys() async throws -> [SealedRevisionKey] {
    try await read { transaction in
      let rows = try transaction.run(
        """
        SELECT key_id, sealed, effective_from FROM revision_key
        ORDER BY effective_from, key_id COLLATE "C"
        """)
      return rows.indices.compactMap { row in
        guard let id = rows.text(row, 0), let sealed = rows.bytes(row, 1),
          let start = rows.integer(row, 2)
        else { return nil }
        return SealedRevisionKey(
          id: id, sealed: sealed, effectiveFrom: Date(unixSecond: start))
      }
    }
  }

  func add(_ key: SealedRevisionKey, forgetting ids: [String]) async throws {
    try await write(isRepeatable: false) { transaction in
      _ = try transaction.runLast([
        PostgreSQLStatement(
          "INSERT INTO revision_key (key_id, sealed, effective_from) VALUES ($1, $2, $3)",
          .text(key.id), .bytes(key.sealed), .integer(key.effectiveFrom.unixSecond)),
        PostgreSQLStatement("DELETE FROM revision_key WHERE key_id = ANY ($1)", .texts(ids)),
      ])
    }
  }

  func statistics(of issuer: String, from start: Int64) async throws -> [StatisticCount] {
    try await read { transaction in
      let rows = try transaction.run(
        """
        SELECT hour, kind, bucket, sum(count)::bigint FROM statistic
        WHERE issuer = $1 AND hour >= $2 GROUP BY hour, kind, bucket
        """, .text(issuer), .integer(start))
      return rows.indices.compactMap { row in
        // Nil if a newer version wrote the row with an unknown kind.
        guard let kind = rows.text(row, 1).flatMap(StatisticKind.init),
          let hour = rows.integer(row, 0), let bucket = rows.integer(row, 2),
          let count = rows.integer(row, 3)
        else { return nil }
        return StatisticCount(
          place: .init(hour: hour, issuer: issuer, kind: kind, bucket: Int(bucket)),
          count: Int(count))
      }
    }
  }
}

/// The columns of `authority_key`. Times are Unix seconds.
private enum AuthorityKeyColumns {
  static let list =
    "issuer, key_id, public_key, good_from, good_until, is_pulled, withdrawn_at"

  static func key(_ rows: PostgreSQLRows, _ row: Int) -> AuthorityKey {
    func date(_ column: Int) -> Date? {
      rows.integer(row, column).map { Date(unixSecond: $0) }
    }
    return AuthorityKey(
      keyID: rows.text(row, 1) ?? "", publicKeyPEM: rows.text(row, 2) ?? "",
      goodFrom: date(3) ?? .distantFuture, goodUntil: date(4), isPulled: rows.bool(row, 5),
      withdrawnAt: date(6))
  }

  static func deletion(_ key: AuthorityKey, of issuer: String) -> PostgreSQLStatement {
    PostgreSQLStatement(
      "DELETE FROM authority_key WHERE issuer = $1 AND key_id = $2", .text(issuer),
      .text(key.keyID))
  }

  static func insertion(_ key: AuthorityKey, of issuer: String) -> PostgreSQLStatement {
    PostgreSQLStatement(
      """
      INSERT INTO authority_key (\(list)) VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (issuer, key_id) DO UPDATE SET public_key = excluded.public_key,
        good_from = excluded.good_from, good_until = excluded.good_until,
        is_pulled = excluded.is_pulled, withdrawn_at = excluded.withdrawn_at
      """, .text(issuer),
      .text(key.keyID), .text(key.publicKeyPEM), .integer(key.goodFrom.unixSecond),
      .integer(key.goodUntil?.unixSecond), .bool(key.isPulled),
      .integer(key.withdrawnAt?.unixSecond))
  }
}
