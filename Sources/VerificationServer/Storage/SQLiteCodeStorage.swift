import Foundation
import GRDB

/// The verification database in one SQLite file.
///
/// Write-ahead log with `synchronous=FULL`: what was answered is on the disk. `secure_delete` writes
/// zeros over what is removed.
struct SQLiteCodeStorage: CodeStorage {
  private let pool: DatabasePool

  /// Opens the database at `file`, makes it where there is none, and brings it to this version.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` where it cannot be opened or written.
  init(file: URL) throws {
    do {
      pool = try Self.opened(file)
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
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.execute(sql: "PRAGMA secure_delete = ON")
    }
    return try DatabasePool(path: file.path, configuration: configuration)
  }

  func issue(_ code: IssuedCode, at now: Date) async throws -> Bool {
    try await write { database in
      guard try CodeRow.live(code.hash, at: now, in: database) == nil else { return false }
      try CodeRow(code).insert(database, onConflict: .replace)
      return true
    }
  }

  func liveCode(_ hash: CodeHash, at now: Date) async throws -> LiveCode? {
    try await Self.reporting {
      try await pool.read { try CodeRow.live(hash, at: now, in: $0)?.code }
    }
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    try await write { database in
      guard var row = try CodeRow.live(hash, at: now, in: database) else { return nil }
      if let earlier = row.redemption { return earlier }
      row.redemption = redemption
      try row.update(database)
      return redemption
    }
  }

  func removeExpired(at now: Date, atMost count: Int) async throws -> Int {
    try await write { try CodeRow.expired(at: now).limit(count).deleteAll($0) }
  }

  /// How long one transaction waits for another process, in seconds.
  private static let busySeconds: TimeInterval = 5

  private func write<Value: Sendable>(
    _ updates: @Sendable @escaping (Database) throws -> Value
  ) async throws -> Value {
    try await Self.reporting { try await pool.write(updates) }
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
