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

  /// Runs `work` in one transaction on the restored database in `restored`, to which a copy of this one is attached.
  ///
  /// - Returns: The result of `work`; nil if it is not certain that this database has continued after the backup:
  ///   it may be that of another server, be older than the backup, or have been restored from another one.
  /// - Throws: `ServerDatabaseError`, also if this database is missing.
  package func withRestored<Result>(
    _ restored: URL, _ work: (Database) throws -> Result
  ) throws(ServerDatabaseError) -> Result? {
    // SQLite would create the file.
    guard FileManager.default.fileExists(atPath: file.path) else { throw .unavailable }
    let copy = restored.appendingPathExtension(Self.name)
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(copy.path + suffix) } }
    do {
      try write(to: copy)
      let queue = try ServerDatabase.openConnection(restored, schema: schema)
      try schema.migrations.migrate(queue)
      let result = try queue.writeWithoutTransaction { try run(work, on: $0, copy) }
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

  /// False if it is not certain that this database has continued after the backup from which `restored` is.
  ///
  /// - Throws: `ServerDatabaseError`, also if this database is missing.
  package func hasContinued(sinceBackupIn restored: URL) throws(ServerDatabaseError) -> Bool {
    try withRestored(restored) { _ in true } ?? false
  }

  /// Copies the database and migrates the copy. Attached, the database itself would be opened for writing.
  private func write(to copy: URL) throws {
    DatabaseFile.createPrivately(copy)
    let snapshot = try ServerDatabase.openForReading(file, schema: schema).makeSnapshot()
    let queue = try DatabaseQueue(path: copy.path)
    try snapshot.backup(to: queue)
    try snapshot.close()
    try schema.migrations.migrate(queue)
    try queue.close()
  }

  private func run<Result>(
    _ work: (Database) throws -> Result, on db: Database, _ copy: URL
  ) throws -> Result? {
    try db.execute(sql: "ATTACH DATABASE ? AS \(Self.name)", arguments: [copy.path])
    let isSame = try Bool.fetchOne(
      db,
      sql: """
        SELECT restored.secret_check IS NOT NULL AND restored.secret_check = other.secret_check
        FROM main.server_state AS restored, \(Self.name).server_state AS other
        """)
    guard isSame == true, try BackupHistory.contains(Self.name, backupOf: db) else { return nil }
    var result: Result?
    try db.inTransaction {
      result = try work(db)
      return .commit
    }
    return result
  }
}
