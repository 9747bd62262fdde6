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
