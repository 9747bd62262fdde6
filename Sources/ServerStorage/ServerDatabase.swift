// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Synchronization

/// The database of a server: one SQLite file with a write-ahead log.
///
/// - Only its owner can read the file.
/// - `synchronous=FULL` syncs the write-ahead log at each commit: what was acknowledged survives a power failure.
/// - `secure_delete` overwrites deleted data.
/// - Nothing is acknowledged if the file was deleted or replaced, or if the last check found damage.
package final class ServerDatabase: Sendable {
  /// The connections. Transactions go through `read` and `write`, which check the file and the errors.
  package let pool: DatabasePool
  private let file: DatabaseFile
  private let isDamaged = Atomic<Bool>(false)

  private init(_ pool: DatabasePool, _ file: DatabaseFile) {
    self.pool = pool
    self.file = file
  }

  /// Opens the database in `file`, or creates it, and migrates it to the current schema.
  ///
  /// - Parameter secretCheck: A value that is derived from the server's secret, to which the database must belong; nil
  ///   for no check. A new database belongs to it from then on.
  package static func open(
    _ file: URL, schema: DatabaseSchema, secretCheck: Data? = nil
  ) throws(ServerDatabaseError) -> ServerDatabase {
    do {
      DatabaseFile.createPrivately(file)
      let pool = try DatabasePool(path: file.path, configuration: schema.configuration())
      try pool.writeWithoutTransaction { db in
        // Set after the pool has enabled the log, which sets NORMAL: the latest commits would be lost in a power
        // failure.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try schema.refuseNewer(db)
        // Before the migration: a database of another server stays as it is.
        if let secretCheck, try ServerState.belongsToOther(than: secretCheck, in: db) {
          throw ServerDatabaseError.otherSecret
        }
      }
      try schema.migrations.migrate(pool)
      if let secretCheck { try pool.write { try ServerState.claim(secretCheck, in: $0) } }
      return ServerDatabase(pool, DatabaseFile(opened: file))
    } catch let error as ServerDatabaseError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damaged
    } catch {
      throw .unavailable
    }
  }

  /// Opens the existing database in `file` for reading, without a migration, also while its server runs.
  package static func openReadOnly(
    _ file: URL, schema: DatabaseSchema, secretCheck: Data
  ) throws(ServerDatabaseError) -> ServerDatabase {
    do {
      let pool = try openForReading(file, schema: schema)
      if try pool.read({ try ServerState.belongsToOther(than: secretCheck, in: $0) }) {
        throw ServerDatabaseError.otherSecret
      }
      return ServerDatabase(pool, DatabaseFile(opened: file))
    } catch let error as ServerDatabaseError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damaged
    } catch {
      throw .unavailable
    }
  }

  /// True if the file was neither deleted nor replaced since it was opened.
  package var isInPlace: Bool { file.isInPlace }

  /// Runs `query` in a read transaction.
  ///
  /// - Throws: The error of `query`; `DatabaseError`.
  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await pool.read(query)
  }

  /// Runs `updates` in a transaction, which is rolled back if it throws.
  ///
  /// - Throws: `ServerDatabaseError.damaged`; `.lost` if the transaction was committed to a file that is not in place
  ///   any more; the error of `updates`; `DatabaseError`.
  package func write<Value: Sendable>(
    _ updates: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try refuseDamaged()
    let value = try await pool.write(updates)
    try refuseLost()
    return value
  }

  /// The synchronous variant.
  package func write<Value>(_ updates: (Database) throws -> Value) throws -> Value {
    try refuseDamaged()
    let value = try pool.write(updates)
    try refuseLost()
    return value
  }

  private func refuseDamaged() throws(ServerDatabaseError) {
    guard !isDamaged.load(ordering: .relaxed) else { throw .damaged }
  }

  /// Called after a commit: writes to a deleted file succeed but are lost.
  private func refuseLost() throws(ServerDatabaseError) {
    guard isInPlace else { throw .lost }
  }

  /// Checks the structure of the database. If it is damaged, writes are refused until a check finds no fault.
  ///
  /// - Parameter rows: Checks the values, if the structure has no fault.
  /// - Returns: The result of `rows`; nil if the structure is damaged.
  package func check<Value: Sendable>(
    _ rows: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value? {
    let result: Value? = try await pool.read { db in
      guard try DatabaseCheck.isIntact(db) else { return nil }
      return try rows(db)
    }
    isDamaged.store(result == nil, ordering: .relaxed)
    return result
  }

  /// Closes all connections, with a final checkpoint.
  package func close() throws { try pool.close() }
}

extension ServerDatabase {
  /// Opens a further connection to the database in `file`, outside its pool and without a migration.
  ///
  /// - Throws: `ServerDatabaseError.newer`; `DatabaseError`.
  package static func openConnection(
    _ file: URL, schema: DatabaseSchema
  ) throws -> DatabaseQueue {
    let queue = try DatabaseQueue(path: file.path, configuration: schema.configuration())
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous = FULL")
      try schema.refuseNewer(db)
    }
    return queue
  }

  /// Opens the database in `file` for reading, without a migration, while its server may be running.
  ///
  /// - Throws: `ServerDatabaseError.newer`; `DatabaseError`.
  static func openForReading(_ file: URL, schema: DatabaseSchema) throws -> DatabasePool {
    let pool = try DatabasePool(
      path: file.path, configuration: schema.configuration(readonly: true))
    try pool.read(schema.refuseNewer)
    return pool
  }
}
