import Foundation
import GRDB

/// The verification database in one SQLite file.
///
/// Write-ahead log with `synchronous=FULL`: what was answered is on the disk. `secure_delete` writes
/// zeros over what is removed.
struct SQLiteCodeStorage: CodeStorage {
  let pool: DatabasePool

  /// Opens the database at `file`, makes it where there is none, and brings it to this version.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where it cannot be opened or written.
  init(file: URL) throws {
    do {
      pool = try Self.opened(file)
      // Here and not in the configuration: the pool sets NORMAL when it turns the log on, which would
      // lose the latest commits with the power.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      try Self.migrator.migrate(pool)
    } catch {
      throw VerificationServerError.storageUnavailable
    }
  }

  /// A pool on a file that only this user may read; SQLite gives its log the same rights.
  private static func opened(_ file: URL) throws -> DatabasePool {
    if !FileManager.default.fileExists(atPath: file.path) {
      _ = FileManager.default.createFile(
        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    var configuration = Configuration()
    configuration.busyMode = .timeout(busySeconds)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA secure_delete = ON")
    }
    return try DatabasePool(path: file.path, configuration: configuration)
  }

  func issue(_ codes: [IssuedCode], at now: Date) async throws -> [IssueOutcome] {
    try await write { database in
      try codes.map { try Self.issue($0, at: now, in: database) }
    }
  }

  func code(_ hash: CodeHash) async throws -> LiveCode? {
    try await read { database in
      guard let spelling = try SpellingRow.of(hash, in: database),
        let issue = try IssueRow.fetchOne(database, key: spelling.issue),
        let finding = issue.finding
      else { return nil }
      let spent = try issue.tokenMark.map { try ExchangeRow.exists(database, key: $0) }
      return LiveCode(
        finding: finding, redemption: issue.redemption, nonceMark: issue.nonceMark,
        expiresAt: Date(unixSecond: spelling.expiresAt), isExchanged: spent ?? false)
    }
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    try await write { database in
      guard let spelling = try SpellingRow.of(hash, in: database),
        spelling.expiresAt >= now.unixSecond,
        var issue = try IssueRow.fetchOne(database, key: spelling.issue)
      else { return nil }
      if let earlier = issue.redemption { return earlier }
      issue.redemption = redemption
      try issue.update(database)
      try Self.claimReport(of: issue, in: database)
      return redemption
    }
  }

  func exchange(_ exchange: TokenExchange) async throws -> TokenExchange {
    try await write { database in
      if let earlier = try ExchangeRow.fetchOne(database, key: exchange.tokenMark) {
        return earlier.exchange
      }
      try ExchangeRow(exchange).insert(database)
      return exchange
    }
  }

  /// How long one transaction waits for another process, in seconds.
  private static let busySeconds: TimeInterval = 5

  func write<Value: Sendable>(
    _ updates: @Sendable @escaping (Database) throws -> Value
  ) async throws -> Value {
    try await Self.reporting { try await pool.write(updates) }
  }

  func read<Value: Sendable>(
    _ question: @Sendable @escaping (Database) throws -> Value
  ) async throws -> Value {
    try await Self.reporting { try await pool.read(question) }
  }

  /// SQLite's own errors say more than a caller can use, some with the row in it.
  private static func reporting<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch is DatabaseError {
      throw VerificationServerError.storageUnavailable
    }
  }
}

extension SQLiteCodeStorage {
  static func issue(
    _ code: IssuedCode, at now: Date, in database: Database
  ) throws -> IssueOutcome {
    if let handle = code.handle, try IssueRow.of(handle, in: database) != nil {
      return .handleTaken
    }
    let spellings =
      [(code.hash, code.expiresAt)] + (code.longHash.map { [($0, code.longExpiresAt)] } ?? [])
    for (hash, _) in spellings {
      let live = SpellingRow.live(at: now).filter(Column("hash") == hash.bytes)
      guard try live.isEmpty(database) else { return .codeTaken }
    }
    guard try report(code.phoneMark, at: now, in: database) else { return .phoneBusy }
    var row = IssueRow(code)
    try row.insert(database)
    guard let id = row.id else { return .codeTaken }
    for (hash, expiresAt) in spellings {
      // An expired code may stand in the way: it is forgotten a little early.
      try SpellingRow(hash: hash.bytes, issue: id, expiresAt: expiresAt.unixSecond)
        .insert(database, onConflict: .replace)
    }
    return .kept
  }

  /// Notes that a phone reported; false where it has to wait.
  private static func report(_ mark: Data?, at now: Date, in database: Database) throws -> Bool {
    guard let mark else { return true }
    let earlier = try ReportRow.of(mark, in: database)?.report
    guard earlier?.isBusy(at: now) != true else { return false }
    try ReportRow(PhoneReport(phoneMark: mark, at: now)).insert(database, onConflict: .replace)
    return true
  }

  static func claimReport(of issue: IssueRow, in database: Database) throws {
    guard let mark = issue.phoneMark, let row = try ReportRow.of(mark, in: database) else { return }
    try ReportRow(row.report.claimed).update(database)
  }

  func fate(_ handle: UUID) async throws -> CodeFate? {
    try await read { try IssueRow.of(handle, in: $0)?.fate }
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeFate? {
    try await write { database in
      guard var issue = try IssueRow.of(handle, in: database), let id = issue.id else {
        return nil
      }
      let fate = issue.fate.ended(before: now)
      issue.fate = fate
      try issue.update(database)
      let end = now.unixSecond - 1
      try SpellingRow.filter(Column("issue") == id && Column("expiresAt") > end)
        .updateAll(database, Column("expiresAt").set(to: end))
      return fate
    }
  }

  func withdraw(_ handle: UUID) async throws {
    try await write { database in
      guard let issue = try IssueRow.of(handle, in: database) else { return }
      if let mark = issue.phoneMark { _ = try ReportRow.deleteOne(database, key: mark) }
      _ = try issue.delete(database)
    }
  }

  func liveCount(at now: Date, atMost count: Int) async throws -> Int {
    try await read { try SpellingRow.live(at: now).limit(count).fetchCount($0) }
  }

  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int {
    try await write { database in
      let end = moment.unixSecond
      let codes = try IssueRow.filter(Column("endsAt") < end).limit(count).deleteAll(database)
      let tokens = try Self.delete("exchange", "tokenMark", "expiresAt", end, count, in: database)
      let reports = try Self.delete("report", "phoneMark", "freeAt", end, count, in: database)
      return codes + tokens + reports
    }
  }

  /// Deletes at most `count` rows of a table without row ids whose `time` is over.
  private static func delete(
    _ table: String, _ key: String, _ time: String, _ end: Int64, _ count: Int,
    in database: Database
  ) throws -> Int {
    try database.execute(
      sql:
        "DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(time) < ? LIMIT ?)",
      arguments: [end, count])
    return database.changesCount
  }
}

extension SQLiteCodeStorage {
  func add(_ key: ApiKeyRecord) async throws {
    try await write { try ApiKeyRow(key).insert($0) }
  }

  func apiKey(_ id: ApiKeyID) async throws -> ApiKeyRecord? {
    try await read { try ApiKeyRow.fetchOne($0, key: id.text)?.record }
  }

  func apiKeys() async throws -> [ApiKeyRecord] {
    try await read { database in
      try ApiKeyRow.order(Column("createdAt"), Column("id")).fetchAll(database).compactMap(\.record)
    }
  }

  func revokeApiKey(_ id: ApiKeyID, at now: Date) async throws -> Bool {
    try await write { database in
      guard var row = try ApiKeyRow.fetchOne(database, key: id.text) else { return false }
      row.revokedAt = row.revokedAt ?? now.unixSecond
      try row.update(database)
      return true
    }
  }
}
