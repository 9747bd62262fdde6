// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

extension PostgreSQLCodeStorage {
  func issuerCounts() async throws -> [IssuerCount] {
    try await read {
      try PostgreSQLCodeSchema.issuerCounts.rows(
        #"ORDER BY day DESC, kind COLLATE "C", name COLLATE "C""#, in: $0)
    }
  }

  func issuerCounts(on day: Int64) async throws -> [IssuerCount] {
    try await read {
      try PostgreSQLCodeSchema.issuerCounts.rows(
        #"WHERE day = $1 ORDER BY kind COLLATE "C", name COLLATE "C""#, .integer(day), in: $0)
    }
  }

  /// The rows are changed in one order, so that two processes do not wait for each other.
  func add(_ batch: AttemptBatch) async throws {
    let ordered = batch.counts.sorted { ($0.day, $0.apiKey) < ($1.day, $1.apiKey) }
    let events = batch.events.sorted {
      ($0.day, $0.kind.rawValue, $0.name) < ($1.day, $1.kind.rawValue, $1.name)
    }
    try await write { transaction in
      // After a commit whose outcome was unknown.
      let isNew =
        try transaction.run(
          #"INSERT INTO "attemptBatch" VALUES ($1) ON CONFLICT DO NOTHING"#, .bytes(batch.identity)
        ).changedCount == 1
      guard isNew else { return }
      for count in ordered { try Self.add(count, transaction) }
      for count in events { try Self.add(count, transaction) }
    }
  }

  private static func add(_ count: AttemptCount, _ transaction: PostgreSQLTransaction) throws {
    try transaction.run(
      """
      INSERT INTO \(PostgreSQLCodeSchema.attemptCounts.name) AS known (
        day, "apiKey", "codesClaimed", "codesInvalid", "tokensClaimed", "tokensInvalid",
        "codesInvalidIOS", "codesInvalidAndroid")
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (day, "apiKey") DO UPDATE SET
        "codesClaimed" = known."codesClaimed" + excluded."codesClaimed",
        "codesInvalid" = known."codesInvalid" + excluded."codesInvalid",
        "tokensClaimed" = known."tokensClaimed" + excluded."tokensClaimed",
        "tokensInvalid" = known."tokensInvalid" + excluded."tokensInvalid",
        "codesInvalidIOS" = known."codesInvalidIOS" + excluded."codesInvalidIOS",
        "codesInvalidAndroid" = known."codesInvalidAndroid" + excluded."codesInvalidAndroid"
      """, .integer(count.day), .text(count.apiKey), .integer(count.codesClaimed),
      .integer(count.codesInvalid), .integer(count.tokensClaimed),
      .integer(count.tokensInvalid), .integer(count.codesInvalidIOS.map { Int64($0) }),
      .integer(count.codesInvalidAndroid.map { Int64($0) }))
  }

  private static func add(_ count: IssuerCount, _ transaction: PostgreSQLTransaction) throws {
    let table = PostgreSQLCodeSchema.issuerCounts.name
    try transaction.run(
      """
      INSERT INTO \(table) AS known (day, kind, name, issued)
      SELECT $1::bigint, $2::text, $3::text, $4::bigint
      WHERE (SELECT count(*) FROM \(table) WHERE day = $1::bigint AND kind = $2::text) < $5::bigint
        OR EXISTS (
          SELECT FROM \(table) WHERE day = $1::bigint AND kind = $2::text AND name = $3::text)
      ON CONFLICT (day, kind, name) DO UPDATE SET issued = known.issued + excluded.issued
      """, .integer(count.day), .text(count.kind.rawValue), .text(count.name),
      .integer(count.issued), .integer(VerificationLimit.countedNamesMax))
  }

  func attemptCounts() async throws -> [AttemptCount] {
    try await read {
      try PostgreSQLCodeSchema.attemptCounts.rows(
        #"ORDER BY day DESC, "apiKey" COLLATE "C""#, in: $0)
    }
  }

  /// Counts codes for their API key and their external issuer, on the day of `second`. The row of the day in
  /// `codeCount` is locked before, so that two transactions do not wait for each other.
  static func count(
    _ change: Int, issuer: String?, externalIssuer: String?, at second: Int64,
    _ transaction: PostgreSQLTransaction
  ) throws {
    let key = try issuer.flatMap {
      try PostgreSQLCodeSchema.apiKeys.rows("WHERE id = $1", .text($0), in: transaction).first
    }
    let day = CodeCounts.day(of: second)
    for issuer in IssuerCount.issuers(
      apiKey: issuer, keyName: key?.name, externalIssuer: externalIssuer)
    {
      try count(change, for: issuer, on: day, transaction)
    }
  }

  /// Counts codes of an issuer, unless too many other names are counted on this day.
  private static func count(
    _ change: Int, for issuer: IssuerCount.Issuer, on day: Int64,
    _ transaction: PostgreSQLTransaction
  ) throws {
    let kind = issuer.kind.rawValue
    let changed = try transaction.run(
      """
      UPDATE \(PostgreSQLCodeSchema.issuerCounts.name) SET issued = greatest(0, issued + $4)
      WHERE day = $1 AND kind = $2 AND name = $3
      """, .integer(day), .text(kind), .text(issuer.name), .integer(change))
    // A code that is withdrawn later than on its day may be counted nowhere any more.
    guard changed.changedCount == 0, change > 0 else { return }
    if issuer.kind != .apiKey {
      let names = try transaction.run(
        "SELECT count(*) FROM \(PostgreSQLCodeSchema.issuerCounts.name) WHERE day = $1 AND kind = $2",
        .integer(day), .text(kind))
      guard Int(names.firstInteger ?? 0) < VerificationLimit.countedNamesMax else { return }
    }
    var count = IssuerCount(day: day, issuer)
    count.countIssued(change)
    try PostgreSQLCodeSchema.issuerCounts.insert(count, in: transaction)
  }
}
