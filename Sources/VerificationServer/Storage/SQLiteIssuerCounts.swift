// SPDX-License-Identifier: Apache-2.0
import GRDB

extension SQLiteCodeStorage {
  func issuerCounts() async throws -> [IssuerCount] {
    try await read { database in
      try IssuerCount.order(Column("day").desc, Column("kind"), Column("name")).fetchAll(database)
    }
  }

  func issuerCounts(on day: Int64) async throws -> [IssuerCount] {
    try await read { database in
      try IssuerCount.filter(Column("day") == day).order(Column("kind"), Column("name"))
        .fetchAll(database)
    }
  }

  /// Counts codes for their API key and their external issuer, on the day of `second`.
  static func count(
    _ change: Int, issuer: String?, externalIssuer: String?, at second: Int64,
    in database: Database
  ) throws {
    let key = try issuer.flatMap { try APIKeyRow.fetchOne(database, key: $0) }
    let day = CodeCounts.day(of: second)
    for issuer in IssuerCount.issuers(
      apiKey: issuer, keyName: key?.name, externalIssuer: externalIssuer)
    {
      try IssuerCount.count(change, for: issuer, on: day, in: database)
    }
  }
}

extension SQLiteCodeStorage {
  func add(_ batch: AttemptBatch) async throws {
    try await write { database in
      for var count in batch.counts {
        // A key of several columns would end the process if the file was lost and has no table.
        let known = AttemptCount.filter(
          Column("day") == count.day && Column("apiKey") == count.apiKey)
        if let known = try known.fetchOne(database) { count.add(known) }
        try count.save(database)
      }
      for count in batch.events {
        try IssuerCount.count(count.issued, for: count.issuer, on: count.day, in: database)
      }
    }
  }

  func attemptCounts() async throws -> [AttemptCount] {
    try await read { database in
      try AttemptCount.order(Column("day").desc, Column("apiKey")).fetchAll(database)
    }
  }
}

extension AttemptCount: FetchableRecord, PersistableRecord {
  static let databaseTableName = "attemptCount"
}

extension IssuerCount: FetchableRecord, PersistableRecord {
  static let databaseTableName = "issuerCount"

  /// Counts codes of an issuer, unless too many other names are counted on this day.
  fileprivate static func count(
    _ change: Int, for issuer: Issuer, on day: Int64, in database: Database
  ) throws {
    // As for attempts.
    let known = try IssuerCount.filter(
      Column("day") == day && Column("kind") == issuer.kind.rawValue
        && Column("name") == issuer.name
    ).fetchOne(database)
    // A code that is withdrawn later than on its day may be counted nowhere any more.
    guard known != nil || change > 0 else { return }
    if known == nil, issuer.kind != .apiKey {
      let names = IssuerCount.filter(
        Column("day") == day && Column("kind") == issuer.kind.rawValue)
      guard try names.fetchCount(database) < VerificationLimit.countedNamesMax else { return }
    }
    var count = known ?? IssuerCount(day: day, issuer)
    count.countIssued(change)
    try count.save(database)
  }
}
