// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Secrets
import World

/// The one row of `server_state`, a table that the databases of all servers have: facts about the database itself.
package enum ServerState {
  /// The table and its row.
  ///
  /// Times are in Unix seconds.
  package static let table = """
    CREATE TABLE server_state (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      secret_check BLOB,
      newest_time INTEGER,
      confirmed_time INTEGER
    ) STRICT;
    INSERT INTO server_state (id) VALUES (1);
    """

  /// Lets a new database belong to the secret from which `check` was derived.
  ///
  /// With another secret, used tokens and codes would not be found and stored keys not decrypted.
  static func claim(_ check: Data, in db: Database) throws {
    try db.execute(
      sql: "UPDATE server_state SET secret_check = ? WHERE secret_check IS NULL",
      arguments: [check])
  }

  /// True if the database belongs to another secret, also before it is migrated. Changes nothing.
  static func belongsToOther(than check: Data, in db: Database) throws -> Bool {
    guard try db.tableExists("server_state"),
      let stored = try Data.fetchOne(db, sql: "SELECT secret_check FROM server_state")
    else { return false }
    return !isEqualInConstantTime(stored, check)
  }

  /// The times of the clock.
  package static func clockRecord(in db: Database) throws -> ClockRecord {
    let row = try Row.fetchOne(db, sql: "SELECT newest_time, confirmed_time FROM server_state")
    func date(_ column: String) -> Date? {
      let seconds: Int64? = row?[column]
      return seconds.map { Date(unixSecond: $0) }
    }
    return ClockRecord(newest: date("newest_time"), confirmed: date("confirmed_time"))
  }

  /// Stores the newest time.
  package static func keep(_ now: Date, in db: Database) throws {
    try db.execute(
      sql: "UPDATE server_state SET newest_time = ?",
      arguments: [now.unixSecond])
  }
}

extension ServerState {
  /// True if the database `file` belongs to a secret.
  package static func isClaimed(
    _ file: URL, schema: DatabaseSchema
  ) throws(ServerDatabaseError) -> Bool {
    try opened(file, schema) { queue in
      try queue.read {
        try Bool.fetchOne($0, sql: "SELECT secret_check IS NOT NULL FROM server_state") ?? false
      }
    }
  }

  /// The times of the clock in the database `file`, also while its server runs.
  package static func clockRecord(
    in file: URL, schema: DatabaseSchema
  ) throws(ServerDatabaseError) -> ClockRecord {
    try opened(file, schema) { try $0.read { try clockRecord(in: $0) } }
  }

  /// Confirms that it is `now`, for the server of the database `file`, also while it runs.
  package static func confirm(
    _ now: Date, in file: URL, schema: DatabaseSchema
  ) throws(ServerDatabaseError) {
    let seconds = now.unixSecond
    try opened(file, schema) { queue in
      try queue.write {
        try $0.execute(
          sql: "UPDATE server_state SET newest_time = ?, confirmed_time = ?",
          arguments: [seconds, seconds])
      }
    }
  }

  /// Runs `work` on an existing database.
  private static func opened<Result>(
    _ file: URL, _ schema: DatabaseSchema, _ work: (DatabaseQueue) throws -> Result
  ) throws(ServerDatabaseError) -> Result {
    // SQLite would create the file.
    guard FileManager.default.fileExists(atPath: file.path) else { throw .unavailable }
    do {
      let queue = try ServerDatabase.openConnection(file, schema: schema)
      let result = try work(queue)
      try queue.close()
      return result
    } catch let error as ServerDatabaseError {
      throw error
    } catch {
      throw .unavailable
    }
  }
}
