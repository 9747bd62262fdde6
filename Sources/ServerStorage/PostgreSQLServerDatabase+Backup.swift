// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL

/// The database as a part of a backup, and as the target of its restoration.
extension PostgreSQLServerDatabase {
  /// Runs `body` in a transaction on a connection of its own, and blocks the thread.
  ///
  /// - Throws: `ServerDatabaseError`; the error of `body`.
  func blocking<Value>(
    _ mode: PostgreSQLTransaction.Mode = .readCommitted, seconds: Double,
    _ body: (PostgreSQLTransaction) throws -> Value
  ) throws -> Value {
    database.requirePrimary()
    do {
      return try database.blockingTransaction(mode, seconds: seconds, body)
    } catch let error as PostgreSQLError {
      throw Self.mapped(error)
    }
  }

  /// Begins the transaction of a copy: from now on it sees the data of this moment.
  static func beginCopy(_ transaction: PostgreSQLTransaction) throws {
    // The copies of other databases may take longer than a transaction may wait for its client.
    try transaction.run("SET LOCAL idle_in_transaction_session_timeout = 0")
    // A statement reads or orders a whole table.
    try transaction.run("SET LOCAL statement_timeout = 0")
    try transaction.run("SELECT 1")
  }

  /// Locks the tables that this role may change, until the end of the transaction: no other session can commit a change
  /// of them. Waits for less than PostgreSQL's `deadlock_timeout`: a deadlock would end the transaction of a server.
  ///
  /// - Throws: `DatabaseCopyError.busy` if transactions of others hold the tables for longer than a lock is waited for;
  ///   `ServerDatabaseError.empty`; `PostgreSQLError`.
  static func lockTables(_ transaction: PostgreSQLTransaction) throws {
    try transaction.run("SET LOCAL lock_timeout = '\(DatabaseCopyLimit.lockMilliseconds)ms'")
    let tables = try tableList(transaction, "has_table_privilege(oid, 'UPDATE')")
    do throws(PostgreSQLError) {
      try transaction.runOnce("LOCK TABLE \(tables) IN EXCLUSIVE MODE")
    } catch {
      guard error.sqlState == "55P03" else { throw error }
      throw DatabaseCopyError.busy
    }
  }
}

/// Reasons why a database in PostgreSQL is not copied.
enum DatabaseCopyError: Error, Hashable {
  /// Others hold its tables for too long.
  case busy
}

/// Limits of a copy for a backup, and of its restoration.
enum DatabaseCopyLimit {
  /// The time for the copies of all databases, in seconds.
  static let seconds: Double = 4 * 3_600
  /// The time that a lock is waited for, in milliseconds. Changes of servers wait behind it.
  static let lockMilliseconds = 200
  /// The number of attempts to lock the tables.
  static let lockAttempts = 20
  /// The pause between two attempts, in microseconds: the changes that have waited go on.
  static let lockPauseMicroseconds: UInt32 = 100_000
}
