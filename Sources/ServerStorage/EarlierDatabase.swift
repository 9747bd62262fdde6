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
  /// - Parameters:
  ///   - restored: The file of the restored database.
  ///   - work: Receives the restored database, and true if it is certain that this one has continued after the backup.
  ///     Otherwise it may be older than the backup, or have been restored from another one.
  /// - Returns: The result of `work`; nil if this database is that of another server.
  /// - Throws: `ServerDatabaseError`, also if this database is missing.
  package func withRestored<Result>(
    _ restored: URL, _ work: (_ db: Database, _ hasContinued: Bool) throws -> Result
  ) throws(ServerDatabaseError) -> Result? {
    let copy = restored.appendingPathExtension(Self.name)
    defer { for suffix in DatabaseFile.suffixes { unlink(copy.path + suffix) } }
    return try reporting {
      try write(to: copy)
      let queue = try ServerDatabase.openConnection(restored, schema: schema)
      try schema.migrations.migrate(queue)
      let result = try queue.writeWithoutTransaction { try run(work, on: $0, copy) }
      try queue.close()
      return result
    }
  }

  /// Facts about this database in comparison with a restored one.
  package struct Relation: Sendable {
    /// False if this is the database of another server.
    package let isOfSameServer: Bool
    /// True if it is certain that this database has continued after the backup.
    package let hasContinued: Bool
    /// The newest time that the server has stored; nil if it has stored none.
    package let newestTime: Date?
  }

  /// Compares this database with the one in `restored`, and copies nothing.
  ///
  /// - Throws: `ServerDatabaseError`, also if this database is missing.
  package func relation(toBackupIn restored: URL) throws(ServerDatabaseError) -> Relation {
    try reporting {
      let backup = try Origin(of: restored, schema: schema)
      let own = try Origin(of: file, schema: schema)
      let isSame = backup.secretCheck != nil && backup.secretCheck == own.secretCheck
      let hasContinued = backup.identities.last.map(own.identities.contains) ?? false
      return Relation(
        isOfSameServer: isSame, hasContinued: isSame && hasContinued, newestTime: own.newestTime)
    }
  }

  private func reporting<Result>(_ work: () throws -> Result) throws(ServerDatabaseError) -> Result
  {
    // SQLite would create the file.
    guard FileManager.default.fileExists(atPath: file.path) else { throw .unavailable }
    do {
      return try work()
    } catch let error as ServerDatabaseError {
      throw error
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damaged
    } catch {
      throw .unavailable
    }
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
    _ work: (Database, Bool) throws -> Result, on db: Database, _ copy: URL
  ) throws -> Result? {
    try db.execute(sql: "ATTACH DATABASE ? AS \(Self.name)", arguments: [copy.path])
    let isSame = try Bool.fetchOne(
      db,
      sql: """
        SELECT restored.secret_check IS NOT NULL AND restored.secret_check = other.secret_check
        FROM main.server_state AS restored, \(Self.name).server_state AS other
        """)
    guard isSame == true else { return nil }
    let hasContinued =
      try BackupHistory.identities(in: db).last
      .map(BackupHistory.identities(in: db, Self.name).contains) ?? false
    var result: Result?
    try db.inTransaction {
      result = try work(db, hasContinued)
      return .commit
    }
    return result
  }
}

/// The facts that tell where a database comes from.
private struct Origin {
  let secretCheck: Data?
  /// The identities of its backups, the newest last.
  let identities: [Data]
  let newestTime: Date?

  init(of file: URL, schema: DatabaseSchema) throws {
    let pool = try ServerDatabase.openForReading(file, schema: schema)
    self = try pool.read { try Origin(in: $0) }
    try pool.close()
  }

  private init(in db: Database) throws {
    secretCheck = try Data.fetchOne(db, sql: "SELECT secret_check FROM server_state")
    identities = try BackupHistory.identities(in: db)
    newestTime = try ServerState.clockRecord(in: db).newest
  }
}
