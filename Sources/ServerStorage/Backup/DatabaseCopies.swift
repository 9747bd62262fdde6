// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import World

/// Copies of the databases of several servers as of one moment, beside the backup that is written from them.
struct DatabaseCopies {
  /// The copies, with the names of the databases.
  let files: [BackupFile]
  private let servers: [BackupServer]
  /// The identity of the backup in the history of each database.
  private let identity = Data(SystemRandomness().bytes(BackupHistory.identityBytes))

  init(of servers: [BackupServer], beside backup: URL) {
    self.servers = servers
    files = servers.map {
      BackupFile(name: $0.database.name, url: backup.appendingPathExtension("\($0.name).database"))
    }
  }

  /// Writes the copies with mode 0600 and no log beside them: SQLite's online backup, in which each transaction is
  /// complete or missing.
  ///
  /// - Throws: `BackupError`; `.newerDatabase` if this version does not know the schema of a database, and so the
  ///   other files that belong to it.
  func write() throws(BackupError) {
    let snapshots = try snapshots()
    for (index, file) in files.enumerated() {
      try write(snapshots[index], of: servers[index], to: file.url)
    }
  }

  /// Removes the copies.
  func remove() {
    for file in files {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(file.url.path + suffix) }
    }
  }

  /// The state of all databases at one moment, at which no server can commit.
  private func snapshots() throws(BackupError) -> [DatabaseSnapshot] {
    var snapshots: [DatabaseSnapshot] = []
    do {
      for server in servers { try reporting(server) { try mark(server) } }
      try withoutCommits(to: servers[...]) {
        for server in servers {
          snapshots.append(
            try reporting(server) {
              try ServerDatabase.openForReading(server.database.url, schema: server.schema)
                .makeSnapshot()
            })
        }
      }
    } catch let error as BackupError {
      throw error
    } catch {
      throw .unreadable(servers[0].database.url)
    }
    return snapshots
  }

  /// Adds the identity of the backup to the database. If its disk is full, only the copy has it: then no earlier folder
  /// is known to be newer than the backup.
  private func mark(_ server: BackupServer) throws {
    let queue = try ServerDatabase.openConnection(server.database.url, schema: server.schema)
    do {
      try queue.write { try BackupHistory.add(identity, in: $0) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
      // A backup is possible without space beside the database.
    }
    try queue.close()
  }

  /// Runs `work` in a write transaction of each of `servers`, which changes nothing. Their own commits wait.
  private func withoutCommits(to servers: ArraySlice<BackupServer>, _ work: () throws -> Void)
    throws
  {
    guard let server = servers.first else { return try work() }
    try reporting(server) {
      let queue = try ServerDatabase.openConnection(server.database.url, schema: server.schema)
      try queue.inTransaction(.immediate) { _ in
        try withoutCommits(to: servers.dropFirst(), work)
        return .rollback
      }
      try queue.close()
    }
  }

  private func write(
    _ snapshot: DatabaseSnapshot, of server: BackupServer, to url: URL
  ) throws(BackupError) {
    unlink(url.path)
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .notWritten(url) }
    close(descriptor)
    let verdict: String?
    do {
      let copy = try DatabaseQueue(path: url.path)
      try snapshot.backup(to: copy)
      try copy.write { try BackupHistory.add(identity, in: $0) }
      verdict = try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
      try copy.close()
      try snapshot.close()
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw .damagedDatabase(server.database.url)
    } catch {
      throw .notWritten(url)
    }
    guard verdict == "ok" else { throw .damagedDatabase(server.database.url) }
  }

  /// Runs `work` and turns an error of the database of `server` into a `BackupError`.
  private func reporting<Result>(
    _ server: BackupServer, _ work: () throws -> Result
  ) throws -> Result {
    let file = server.database.url
    do {
      return try work()
    } catch ServerDatabaseError.newer {
      throw BackupError.newerDatabase(server.schema.name)
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw BackupError.damagedDatabase(file)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      throw BackupError.busy(file)
    } catch is DatabaseError {
      throw BackupError.unreadable(file)
    }
  }
}
