// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The database that a server had before it was restored from a backup, such as the one in the folder that was moved
/// away.
package struct EarlierDatabase: Sendable {
  /// The name under which the earlier database is attached to the restored one.
  package static let name = "earlier"

  private let file: URL
  private let schema: DatabaseSchema

  /// - Parameter file: The file of the earlier database.
  package init(_ file: URL, schema: DatabaseSchema) {
    (self.file, self.schema) = (file, schema)
  }

  /// Runs `work` in one transaction on the restored database in `restored`, to which this one is attached.
  ///
  /// - Returns: The result of `work`; nil if this database is missing, or is that of another server.
  /// - Throws: `ServerDatabaseError`; `.newer` also if this database has not the schema of this version.
  package func withRestored<Result>(
    _ restored: URL, _ work: (Database) throws -> Result
  ) throws(ServerDatabaseError) -> Result? {
    // SQLite would create the file.
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    do {
      let queue = try ServerDatabase.openConnection(restored, schema: schema)
      try schema.migrations.migrate(queue)
      let result = try queue.writeWithoutTransaction { try run(work, on: $0) }
      try queue.close()
      return result
    } catch let error as ServerDatabaseError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damaged
    } catch {
      throw .unavailable
    }
  }

  private func run<Result>(
    _ work: (Database) throws -> Result, on db: Database
  ) throws -> Result? {
    try db.execute(sql: "ATTACH DATABASE ? AS \(Self.name)", arguments: [file.path])
    let isSame = try Bool.fetchOne(
      db,
      sql: """
        SELECT restored.secret_check IS NOT NULL AND restored.secret_check = other.secret_check
        FROM main.server_state AS restored, \(Self.name).server_state AS other
        """)
    guard isSame == true else { return nil }
    let missing = try Int.fetchOne(
      db,
      sql: """
        SELECT count(*) FROM main.grdb_migrations
        WHERE identifier NOT IN (SELECT identifier FROM \(Self.name).grdb_migrations)
        """)
    guard missing == 0 else { throw ServerDatabaseError.newer }
    var result: Result?
    try db.inTransaction {
      result = try work(db)
      return .commit
    }
    return result
  }
}
