// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import QuietHTTP
import ServerStorage
import SharedBudgets
import World

/// The storage of the verification server in PostgreSQL, which several server processes may share.
///
/// Rows that a transaction changes are locked when they are read. A row that another process inserts at the same time
/// violates a primary key; then the transaction is repeated and finds it.
struct PostgreSQLCodeStorage: CodeStorage {
  private typealias Schema = PostgreSQLCodeSchema

  let database: PostgreSQLServerDatabase

  /// Does not connect yet.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - keys: The keys that the database must belong to; nil for no check.
  init(_ address: PostgreSQLAddress, keys: CodeKeys? = nil, logger: Logger) {
    database = PostgreSQLServerDatabase(
      address, schema: Schema.schema, secretCheck: keys?.check,
      connections: VerificationLimit.databaseConnections, logger: logger)
  }

  func sharedCounters(_ clock: any WallClock) -> (any SharedCounters)? {
    PostgreSQLCounters(database, clock: clock)
  }

  func makeReady() async throws {
    do { try await database.makeReady() } catch let error as ServerDatabaseError {
      throw VerificationServerError.opening(error)
    }
  }

  /// A second commit would find the codes of the first one taken, so the outcome of a lost commit is an error.
  func issue(_ codes: [HashedCode], at now: Date) async throws -> [IssueOutcome] {
    try await write(isRepeatable: false) { transaction in
      let outcomes = try codes.map { try Self.issue($0, at: now, transaction) }
      let counted = try zip(codes, outcomes).filter { code, outcome in
        try outcome == .stored && Self.isCounted(code.issuer?.text, transaction)
      }.map(\.0)
      if !counted.isEmpty {
        try Self.changeCounts(at: now.unixSecond, transaction) { $0.countIssued(counted.count) }
      }
      for code in counted {
        try Self.count(
          1, issuer: code.issuer?.text, externalIssuer: code.externalIssuer, at: now.unixSecond,
          transaction)
      }
      return outcomes
    }
  }

  private static func issue(
    _ code: HashedCode, at now: Date, _ transaction: PostgreSQLTransaction
  ) throws -> IssueOutcome {
    var row = IssueRow(code, id: 0, issuedAt: now)
    if let handle = row.handle {
      let taken = try transaction.run("SELECT FROM issue WHERE handle = $1", .bytes(handle))
      guard taken.count == 0 else { return .handleTaken }
    }
    let short = CodeHashRow(code.hash, form: code.form, expiresAt: code.expiresAt)
    let long = code.longHash.map { CodeHashRow($0, form: nil, expiresAt: code.longExpiresAt) }
    let hashes = [short] + (long.map { [$0] } ?? [])
    let live = try transaction.run(
      "SELECT FROM \(Schema.hashes.name) WHERE hash = ANY ($1) AND \"expiresAt\" >= $2",
      .byteStrings(hashes.map(\.hash)), .integer(now.unixSecond))
    guard live.count == 0 else { return .codeTaken }
    guard try report(row.phoneHash, at: now, transaction) else { return .phoneBusy }
    row.id = try transaction.run("SELECT nextval('issue_id')").firstInteger ?? 0
    try Schema.issues.insert(row, in: transaction)
    // An expired code with the same hash is removed early.
    try transaction.run(
      "DELETE FROM \(Schema.hashes.name) WHERE hash = ANY ($1)", .byteStrings(hashes.map(\.hash)))
    for var hash in hashes {
      hash.issue = row.id
      try Schema.hashes.insert(hash, in: transaction)
    }
    return .stored
  }

  /// False for the codes of a canary.
  private static func isCounted(
    _ issuer: String?, _ transaction: PostgreSQLTransaction
  ) throws -> Bool {
    guard let issuer else { return true }
    let key = try Schema.apiKeys.rows("WHERE id = $1", .text(issuer), in: transaction).first
    return key?.kind != APIKeyKind.canary.rawValue
  }

  /// Stores a report of the phone; returns false if the phone must wait.
  private static func report(
    _ phone: Data?, at now: Date, _ transaction: PostgreSQLTransaction
  ) throws -> Bool {
    guard let phone else { return true }
    let report = ReportRow(PhoneReport(phoneHash: phone, at: now))
    guard let earlier = try storedReport(of: phone, transaction) else {
      try Schema.reports.insert(report, in: transaction)
      return true
    }
    guard !earlier.report.isBusy(at: now) else { return false }
    try Schema.reports.update(report, in: transaction)
    return true
  }

  static func storedReport(
    of phone: Data, _ transaction: PostgreSQLTransaction
  ) throws -> ReportRow? {
    try Schema.reports.rows("WHERE \"phoneHash\" = $1 FOR UPDATE", .bytes(phone), in: transaction)
      .first
  }

  /// Changes the counts of the day of `now`. It is the last step, because other processes wait for the row.
  static func changeCounts(
    at now: Int64, _ transaction: PostgreSQLTransaction, _ change: (inout CodeCounts) -> Void
  ) throws {
    let day = CodeCounts.day(of: now)
    let stored = try Schema.counts.rows("WHERE day = $1 FOR UPDATE", .integer(day), in: transaction)
    var counts = stored.first ?? CodeCounts(day: day)
    change(&counts)
    if stored.isEmpty {
      try Schema.counts.insert(counts, in: transaction)
    } else {
      try Schema.counts.update(counts, in: transaction)
    }
  }

  func code(_ hash: CodeHash) async throws -> StoredCode? {
    try await read { transaction in
      guard let row = try Self.hashRow(hash, transaction) else { return nil }
      let issue = try Self.issued(row, "", transaction)
      guard let testResult = issue.testResult else { return nil }
      let spent = try issue.tokenIDHash.map { try Self.exchange(of: $0, transaction) != nil }
      return StoredCode(
        testResult: testResult, redemption: issue.redemption, nonceHash: issue.nonceHash,
        expiresAt: Date(unixSecond: row.expiresAt), isExchanged: spent ?? false,
        isCanary: try !Self.isCounted(issue.issuer, transaction))
    }
  }

  private static func hashRow(
    _ hash: CodeHash, _ transaction: PostgreSQLTransaction
  ) throws -> CodeHashRow? {
    try Schema.hashes.rows("WHERE hash = $1", .bytes(hash.bytes), in: transaction).first
  }

  /// The issued code, which is removed only together with its hashes.
  private static func issued(
    _ row: CodeHashRow, _ lock: String, _ transaction: PostgreSQLTransaction
  ) throws -> IssueRow {
    let rows = try Schema.issues.rows(
      "WHERE id = $1 \(lock)", .integer(row.issue), in: transaction)
    guard let issue = rows.first else { throw VerificationServerError.storageUnavailable }
    return issue
  }

  private static func exchange(
    of token: Data, _ transaction: PostgreSQLTransaction
  ) throws -> ExchangeRow? {
    try Schema.exchanges.rows("WHERE \"tokenIDHash\" = $1", .bytes(token), in: transaction).first
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    try await write { transaction in
      guard let first = try Self.hashRow(hash, transaction), first.expiresAt >= now.unixSecond
      else { return nil }
      var issue = try Self.issued(first, "FOR UPDATE", transaction)
      // It may have been ended before it was locked.
      guard let row = try Self.hashRow(hash, transaction), row.expiresAt >= now.unixSecond
      else { return nil }
      if let earlier = issue.redemption { return earlier }
      issue.redemption = redemption
      try Schema.issues.update(issue, in: transaction)
      if let phone = issue.phoneHash, let report = try Self.storedReport(of: phone, transaction) {
        try Schema.reports.update(ReportRow(report.report.claimed), in: transaction)
      }
      guard try Self.isCounted(issue.issuer, transaction) else { return redemption }
      try Self.changeCounts(at: now.unixSecond, transaction) {
        $0.countClaimed(after: now.unixSecond - issue.issuedAt)
      }
      return redemption
    }
  }

  func exchange(_ exchange: TokenExchange, at now: Date) async throws -> TokenExchange? {
    try await write { transaction in
      if let earlier = try Self.exchange(of: exchange.tokenIDHash, transaction) {
        return earlier.exchange
      }
      try Schema.exchanges.insert(ExchangeRow(exchange), in: transaction)
      try Self.changeCounts(at: now.unixSecond, transaction) { $0.countTokenClaimed() }
      return nil
    }
  }

  func counts() async throws -> [CodeCounts] {
    try await read { try Schema.counts.rows("ORDER BY day DESC", in: $0) }
  }

  func write<Value: Sendable>(
    isRepeatable: Bool = true,
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await withoutDetails {
      try await database.transaction(isRepeatable: isRepeatable, body)
    }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
  ) async throws -> Value {
    try await withoutDetails { try await database.transaction(.snapshot, body) }
  }

  /// Drops the messages of the database server, which the callers of routes may not see.
  private func withoutDetails<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await work()
    } catch let error as ServerDatabaseError {
      throw VerificationServerError(error)
    } catch is PostgreSQLError {
      throw VerificationServerError.storageUnavailable
    }
  }
}

extension PostgreSQLCodeStorage {
  func status(of handle: UUID) async throws -> CodeStatus? {
    try await read { try Self.issue(of: handle, "", $0)?.status }
  }

  static func issue(
    of handle: UUID, _ lock: String, _ transaction: PostgreSQLTransaction
  ) throws -> IssueRow? {
    try Schema.issues.rows("WHERE handle = $1 \(lock)", .bytes(handle.data), in: transaction).first
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeStatus? {
    try await write { transaction in
      try Self.issue(of: handle, "FOR UPDATE", transaction).map {
        try Self.expire($0, at: now, transaction)
      }
    }
  }

  /// - Parameter skipsDamaged: True to end the other hash if one is damaged, which is not redeemed either.
  static func expire(
    _ issue: IssueRow, at now: Date, skipsDamaged: Bool = false,
    _ transaction: PostgreSQLTransaction
  ) throws -> CodeStatus {
    var issue = issue
    let status = issue.status.ended(before: now)
    issue.status = status
    try Schema.issues.update(issue, in: transaction)
    let end = now.unixSecond - 1
    let condition = "WHERE issue = $1 AND \"expiresAt\" > $2"
    let hashes =
      skipsDamaged
      ? try Schema.hashes.intactRows(
        condition, .integer(issue.id), .integer(end), in: transaction)
      : try Schema.hashes.rows(condition, .integer(issue.id), .integer(end), in: transaction)
    for var hash in hashes {
      hash.expiresAt = end
      try Schema.hashes.update(hash, in: transaction)
    }
    return status
  }

  func expireCodes(of issuer: APIKeyID?, at now: Date) async throws -> Int {
    try await write { transaction in
      let second = now.unixSecond
      // A damaged row is not redeemed either.
      let live = try Schema.issues.intactRows(
        """
        WHERE "endsAt" >= $1 AND binding IS NULL AND issuer IS NOT DISTINCT FROM $2
        ORDER BY id FOR UPDATE
        """, .integer(second), .text(issuer?.text), in: transaction
      ).filter { max($0.expiresAt, $0.longExpiresAt) >= second }
      for issue in live {
        _ = try Self.expire(issue, at: now, skipsDamaged: true, transaction)
      }
      return live.count
    }
  }

  func liveCount(of form: CodeForm, at now: Date, atMost count: Int) async throws -> Int {
    try await read { transaction in
      let rows = try transaction.run(
        """
        SELECT count(*) FROM (
          SELECT FROM \(Schema.hashes.name) WHERE form = $1 AND "expiresAt" >= $2 LIMIT $3
        ) AS live
        """, .text(form.text), .integer(now.unixSecond), .integer(count))
      return Int(rows.firstInteger ?? 0)
    }
  }
}

extension PostgreSQLCodeStorage {
  func longestLifetime(of form: CodeForm, at now: Date) async throws -> TimeInterval {
    try await read { transaction in
      let rows = try transaction.run(
        """
        SELECT max(h."expiresAt" - i."issuedAt") FROM \(Schema.hashes.name) AS h
        JOIN issue AS i ON i.id = h.issue WHERE h.form = $1 AND h."expiresAt" >= $2
        """, .text(form.text), .integer(now.unixSecond))
      return TimeInterval(rows.firstInteger ?? 0)
    }
  }
}

extension PostgreSQLCodeStorage {
  func add(_ key: APIKeyRecord) async throws {
    try await write(isRepeatable: false) {
      try Schema.apiKeys.insert(APIKeyRow(key), in: $0)
    }
  }

  func apiKey(_ id: APIKeyID) async throws -> APIKeyRecord? {
    try await read {
      try Schema.apiKeys.rows("WHERE id = $1", .text(id.text), in: $0).first?.record
    }
  }

  func apiKeys() async throws -> [APIKeyRecord] {
    try await read {
      try Schema.apiKeys.rows(#"ORDER BY "createdAt", id COLLATE "C""#, in: $0).compactMap(\.record)
    }
  }

  func liveCounts(at now: Date) async throws -> [APIKeyID: Int] {
    try await read { transaction in
      // A code that was ended keeps `endsAt`, which has an index.
      let rows = try transaction.run(
        """
        SELECT issuer, count(*) FROM issue
        WHERE "endsAt" >= $1 AND greatest("expiresAt", "longExpiresAt") >= $1
          AND binding IS NULL AND issuer IS NOT NULL
        GROUP BY issuer
        """, .integer(now.unixSecond))
      return rows.indices.reduce(into: [:]) { counts, row in
        guard let issuer = rows.text(row, 0) else { return }
        counts[APIKeyID(text: issuer)] = Int(rows.integer(row, 1) ?? 0)
      }
    }
  }

  func revokeAPIKey(_ id: APIKeyID, at now: Date) async throws -> Bool {
    try await write { transaction in
      try transaction.run(
        """
        UPDATE "apiKey" SET "revokedAt" = coalesce("revokedAt", $2) WHERE id = $1
        """, .text(id.text), .integer(now.unixSecond)
      ).changedCount > 0
    }
  }

  func check() async throws -> StorageFault? {
    let rows = try await withoutDetails {
      try await database.check { try Self.damagedRows($0) }
    }
    guard let rows else { return .damaged }
    return rows == 0 ? nil : .damagedRows(rows)
  }

  /// Counts the rows with a wrong checksum.
  static func damagedRows(_ transaction: PostgreSQLTransaction) throws -> Int {
    try Schema.issues.damagedCount(in: transaction)
      + Schema.hashes.damagedCount(in: transaction)
      + Schema.exchanges.damagedCount(in: transaction)
  }

  func clockRecord() async throws -> ClockRecord {
    try await withoutDetails { try await database.clockRecord() }
  }

  func keep(_ now: Date) async throws {
    try await withoutDetails { try await database.keep(now) }
  }
}
