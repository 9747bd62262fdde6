// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import World

/// The storage of the verification server in one SQLite file.
struct SQLiteCodeStorage: CodeStorage {
  let database: ServerDatabase

  /// Opens or creates the database at `file` and migrates it to the current schema.
  ///
  /// - Parameter keys: The keys that the database must belong to; nil for no check.
  /// - Throws: `VerificationServerError.storageUnavailable` if it cannot be opened or written, `.otherCodeHashKey`
  ///   if it was created with another secret, `.newerDatabase` if a newer version has migrated it, `.damagedDatabase`.
  init(
    file: URL, keys: CodeKeys? = nil, schema: DatabaseSchema = Self.schema
  ) throws(VerificationServerError) {
    do throws(ServerDatabaseError) {
      database = try ServerDatabase.open(file, schema: schema, secretCheck: keys?.check)
    } catch {
      throw VerificationServerError.opening(error)
    }
  }

  func issue(_ codes: [HashedCode], at now: Date) async throws -> [IssueOutcome] {
    try await write { database in
      let outcomes = try codes.map { try Self.issue($0, at: now, in: database) }
      let counted = try zip(codes, outcomes).filter { code, outcome in
        try outcome == .stored && Self.isCounted(code.issuer?.text, in: database)
      }.map(\.0)
      if !counted.isEmpty {
        try CodeCounts.change(at: now.unixSecond, in: database) { $0.countIssued(counted.count) }
      }
      for code in counted {
        try Self.count(
          1, issuer: code.issuer?.text, externalIssuer: code.externalIssuer, at: now.unixSecond,
          in: database)
      }
      return outcomes
    }
  }

  func code(_ hash: CodeHash) async throws -> StoredCode? {
    try await read { database in
      guard let row = try CodeHashRow.of(hash, in: database) else { return nil }
      let issue = try row.issued(in: database)
      guard let testResult = issue.testResult else { return nil }
      let spent = try issue.tokenIDHash.map { try ExchangeRow.fetchOne(database, key: $0) != nil }
      return StoredCode(
        testResult: testResult, redemption: issue.redemption, nonceHash: issue.nonceHash,
        expiresAt: Date(unixSecond: row.expiresAt), isExchanged: spent ?? false,
        isCanary: try !Self.isCounted(issue.issuer, in: database))
    }
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    try await write { database in
      guard let row = try CodeHashRow.of(hash, in: database), row.expiresAt >= now.unixSecond
      else { return nil }
      var issue = try row.issued(in: database)
      if let earlier = issue.redemption { return earlier }
      issue.redemption = redemption
      try issue.update(database)
      try Self.claimReport(of: issue, in: database)
      guard try Self.isCounted(issue.issuer, in: database) else { return redemption }
      try CodeCounts.change(at: now.unixSecond, in: database) {
        $0.countClaimed(after: now.unixSecond - issue.issuedAt)
      }
      return redemption
    }
  }

  func exchange(_ exchange: TokenExchange, at now: Date) async throws -> TokenExchange? {
    try await write { database in
      if let earlier = try ExchangeRow.fetchOne(database, key: exchange.tokenIDHash) {
        return earlier.exchange
      }
      try ExchangeRow(exchange).insert(database)
      try CodeCounts.change(at: now.unixSecond, in: database) { $0.countTokenClaimed() }
      return nil
    }
  }

  func counts() async throws -> [CodeCounts] {
    try await read { try CodeCounts.order(Column("day").desc).fetchAll($0) }
  }

  /// Runs a transaction.
  ///
  /// - Throws: `.storageUnavailable` also if the file was deleted: the transaction then succeeded but is lost.
  func write<Value: Sendable>(
    _ updates: @Sendable @escaping (Database) throws -> Value
  ) async throws -> Value {
    try await Self.withoutDetails { try await database.write(updates) }
  }

  func read<Value: Sendable>(
    _ query: @Sendable @escaping (Database) throws -> Value
  ) async throws -> Value {
    try await Self.withoutDetails { try await database.read(query) }
  }

  /// Drops the details of SQLite's errors, which may contain values of the row.
  private static func withoutDetails<Value>(_ work: () async throws -> Value) async throws -> Value
  {
    do {
      return try await work()
    } catch let error as ServerDatabaseError {
      throw VerificationServerError(error)
    } catch is DatabaseError {
      throw VerificationServerError.storageUnavailable
    }
  }
}

extension SQLiteCodeStorage {
  static func issue(
    _ code: HashedCode, at now: Date, in database: Database
  ) throws -> IssueOutcome {
    if let handle = code.handle, try IssueRow.of(handle, in: database) != nil {
      return .handleTaken
    }
    let short = CodeHashRow(code.hash, form: code.form, expiresAt: code.expiresAt)
    let long = code.longHash.map { CodeHashRow($0, form: nil, expiresAt: code.longExpiresAt) }
    let hashes = [short] + (long.map { [$0] } ?? [])
    for hash in hashes {
      let live = CodeHashRow.live(at: now).filter(Column("hash") == hash.hash)
      guard try live.isEmpty(database) else { return .codeTaken }
    }
    guard try report(code.phoneHash, at: now, in: database) else { return .phoneBusy }
    let row = IssueRow(code, id: try IssueRow.nextID(in: database), issuedAt: now)
    try row.insert(database)
    for var hash in hashes {
      hash.issue = row.id
      // An expired code with the same hash is removed early.
      try hash.insert(database, onConflict: .replace)
    }
    return .stored
  }

  /// False for the codes of a canary.
  private static func isCounted(_ issuer: String?, in database: Database) throws -> Bool {
    guard let issuer else { return true }
    return try APIKeyRow.fetchOne(database, key: issuer)?.kind != APIKeyKind.canary.rawValue
  }

  /// Stores a report of the phone; returns false if the phone must wait.
  private static func report(_ phone: Data?, at now: Date, in database: Database) throws -> Bool {
    guard let phone else { return true }
    let earlier = try ReportRow.of(phone, in: database)?.report
    guard earlier?.isBusy(at: now) != true else { return false }
    try ReportRow(PhoneReport(phoneHash: phone, at: now)).insert(database, onConflict: .replace)
    return true
  }

  static func claimReport(of issue: IssueRow, in database: Database) throws {
    guard let phone = issue.phoneHash, let row = try ReportRow.of(phone, in: database) else {
      return
    }
    try ReportRow(row.report.claimed).update(database)
  }

  func status(of handle: UUID) async throws -> CodeStatus? {
    try await read { try IssueRow.of(handle, in: $0)?.status }
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeStatus? {
    try await write { database in
      try IssueRow.of(handle, in: database).map { try Self.expire($0, at: now, in: database) }
    }
  }

  /// - Parameter skipsDamaged: True to end the other hash if one is damaged, which is not redeemed either.
  private static func expire(
    _ issue: IssueRow, at now: Date, skipsDamaged: Bool = false, in database: Database
  ) throws -> CodeStatus {
    var issue = issue
    let status = issue.status.ended(before: now)
    issue.status = status
    try issue.update(database)
    let end = now.unixSecond - 1
    let live = CodeHashRow.filter(Column("issue") == issue.id && Column("expiresAt") > end)
    let hashes =
      try skipsDamaged ? CodeHashRow.intact(live, in: database) : live.fetchAll(database)
    for var hash in hashes {
      hash.expiresAt = end
      try hash.update(database)
    }
    return status
  }

  func expireCodes(of issuer: APIKeyID?, at now: Date) async throws -> Int {
    try await write { database in
      let codes = IssueRow.filter(
        Column("endsAt") >= now.unixSecond && Column("binding") == nil
          && Column("issuer") == issuer?.text)
      return try Self.expire(codes, at: now, in: database)
    }
  }

  /// Ends the live ones of `codes`.
  ///
  /// - Returns: Their number.
  static func expire(
    _ codes: QueryInterfaceRequest<IssueRow>, at now: Date, in database: Database
  ) throws -> Int {
    // A damaged row is not redeemed either.
    let live = try IssueRow.intact(codes, in: database).filter {
      max($0.expiresAt, $0.longExpiresAt) >= now.unixSecond
    }
    for issue in live { _ = try expire(issue, at: now, skipsDamaged: true, in: database) }
    return live.count
  }

  func withdraw(_ handle: UUID, externalIssuer: String?) async throws {
    try await write { database in
      guard let issue = try IssueRow.of(handle, in: database) else { return }
      if let phone = issue.phoneHash { _ = try ReportRow.deleteOne(database, key: phone) }
      _ = try issue.delete(database)
      try CodeCounts.change(at: issue.issuedAt, in: database) { $0.countIssued(-1) }
      try Self.count(
        -1, issuer: issue.issuer, externalIssuer: externalIssuer, at: issue.issuedAt, in: database)
    }
  }

  func freePhone(_ phoneHash: Data, at now: Date) async throws -> Bool {
    try await write { database in
      let hasReported = try ReportRow.exists(database, key: phoneHash)
      // A row that is deleted again lets the transaction write in both cases.
      try ReportRow(PhoneReport(phoneHash: phoneHash, at: now)).insert(
        database, onConflict: .replace)
      _ = try ReportRow.deleteOne(database, key: phoneHash)
      let codes = IssueRow.filter(
        Column("endsAt") >= now.unixSecond && Column("binding") == nil
          && Column("phoneHash") == phoneHash)
      let ended = try Self.expire(codes, at: now, in: database)
      return hasReported || ended > 0
    }
  }

  func liveCount(of form: CodeForm, at now: Date, atMost count: Int) async throws -> Int {
    try await read {
      try CodeHashRow.live(at: now).filter(Column("form") == form.text).limit(count).fetchCount($0)
    }
  }

  func longestLifetime(of form: CodeForm, at now: Date) async throws -> TimeInterval {
    try await read { database in
      let seconds = try Int64.fetchOne(
        database,
        sql: """
          SELECT max(codeHash.expiresAt - issue.issuedAt)
          FROM codeHash JOIN issue ON issue.id = codeHash.issue
          WHERE codeHash.form = ? AND codeHash.expiresAt >= ?
          """, arguments: [form.text, now.unixSecond])
      return TimeInterval(seconds ?? 0)
    }
  }

  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int {
    try await write { database in
      let end = moment.unixSecond
      let codes = try IssueRow.filter(Column("endsAt") < end).limit(count).deleteAll(database)
      let tokens = try Self.removeExchanges(before: end, atMost: count, in: database)
      let reports = try Self.removeReports(before: end, atMost: count, in: database)
      let oldest = CodeCounts.day(of: end) - VerificationLimit.countedDays
      try CodeCounts.filter(Column("day") < oldest).deleteAll(database)
      try AttemptCount.filter(Column("day") < oldest).deleteAll(database)
      try IssuerCount.filter(
        Column("day") < oldest
          || Column("day") < CodeCounts.day(of: end)
            && Column("issued") < VerificationLimit.issuerCountMultiple
      ).deleteAll(database)
      return codes + tokens + reports
    }
  }

  /// Removes expired exchanges. Damaged rows stay: without its row, a token that is still valid could be exchanged
  /// again.
  private static func removeExchanges(
    before end: Int64, atMost count: Int, in database: Database
  ) throws -> Int {
    let expired = ExchangeRow.filter(Column("expiresAt") < end).limit(count)
    let rows = try ExchangeRow.intact(expired, in: database)
    for row in rows { try row.delete(database) }
    return rows.count
  }

  private static func removeReports(
    before end: Int64, atMost count: Int, in database: Database
  ) throws -> Int {
    // SQLite's DELETE has no LIMIT, and the table no row IDs.
    try database.execute(
      sql: """
        DELETE FROM report
        WHERE phoneHash IN (SELECT phoneHash FROM report WHERE freeAt < ? LIMIT ?)
        """,
      arguments: [end, count])
    return database.changesCount
  }
}

extension SQLiteCodeStorage {
  func add(_ key: APIKeyRecord) async throws {
    try await write { try APIKeyRow(key).insert($0) }
  }

  func apiKey(_ id: APIKeyID) async throws -> APIKeyRecord? {
    try await read { try APIKeyRow.fetchOne($0, key: id.text)?.record }
  }

  func apiKeys() async throws -> [APIKeyRecord] {
    try await read { database in
      try APIKeyRow.order(Column("createdAt"), Column("id")).fetchAll(database).compactMap(\.record)
    }
  }

  func liveCounts(at now: Date) async throws -> [APIKeyID: Int] {
    try await read { database in
      // A code that was ended keeps `endsAt`, which has an index.
      let rows = try Row.fetchAll(
        database,
        sql: """
          SELECT issuer, count(*) AS live FROM issue
          WHERE endsAt >= :now AND max(expiresAt, longExpiresAt) >= :now
            AND binding IS NULL AND issuer IS NOT NULL
          GROUP BY issuer
          """, arguments: ["now": now.unixSecond])
      return rows.reduce(into: [:]) { counts, row in
        let (issuer, live): (String, Int) = (row["issuer"], row["live"])
        counts[APIKeyID(text: issuer)] = live
      }
    }
  }

  func revokeAPIKey(_ id: APIKeyID, at now: Date) async throws -> Bool {
    try await write { database in
      guard var row = try APIKeyRow.fetchOne(database, key: id.text) else { return false }
      row.revokedAt = row.revokedAt ?? now.unixSecond
      try row.update(database)
      return true
    }
  }
}

extension SQLiteCodeStorage {
  func check() async throws -> StorageFault? {
    guard database.isInPlace else { return .lost }
    let rows = try await Self.withoutDetails {
      try await database.check { try Self.damagedRows(in: $0) }
    }
    guard let rows else { return .damaged }
    return rows == 0 ? nil : .damagedRows(rows)
  }

  /// Counts the rows with a wrong checksum.
  static func damagedRows(in db: Database) throws -> Int {
    try IssueRow.damagedCount(in: db) + CodeHashRow.damagedCount(in: db)
      + ExchangeRow.damagedCount(in: db)
  }

  func clockRecord() async throws -> ClockRecord {
    try await read { try ServerState.clockRecord(in: $0) }
  }

  func keep(_ now: Date) async throws { try await write { try ServerState.keep(now, in: $0) } }
}
