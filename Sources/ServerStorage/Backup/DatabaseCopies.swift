// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import PostgreSQL
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

  /// The state of a database at the moment of the backup.
  private enum Snapshot {
    case file(DatabaseSnapshot)
    /// The open transaction, and the copy of its rows to a file.
    case postgreSQL(PostgreSQLTransaction, BackupServer.Cluster)
  }

  /// Writes the copies with mode 0600 and no log beside them: SQLite's online backup, in which each transaction is
  /// complete or missing, or all rows of a snapshot of PostgreSQL.
  ///
  /// - Throws: `BackupError`; `.newerDatabase` if this version does not know the schema of a database, and so the
  ///   other files that belong to it.
  func write() throws(BackupError) {
    do {
      try withTransactions(.snapshot) { transactions in
        let snapshots = try snapshots(transactions)
        for (index, file) in files.enumerated() {
          try write(snapshots[index], of: servers[index], to: file.url)
        }
      }
    } catch let error as BackupError {
      throw error
    } catch {
      throw .unreadable(servers[0].database.url)
    }
  }

  /// Runs `work` with a transaction for each database in PostgreSQL, by its name, which has run no statement yet: a
  /// snapshot sees what is stored when it runs its first one.
  private func withTransactions(
    _ mode: PostgreSQLTransaction.Mode, _ open: [String: PostgreSQLTransaction] = [:],
    _ work: ([String: PostgreSQLTransaction]) throws -> Void
  ) throws {
    let next = servers.first { $0.cluster != nil && open[$0.name] == nil }
    guard let server = next, let cluster = server.cluster else { return try work(open) }
    try reporting(server) {
      try cluster.database.blocking(mode, seconds: DatabaseCopyLimit.seconds) {
        try withTransactions(mode, open.merging([server.name: $0]) { $1 }, work)
      }
    }
  }

  /// Removes the copies.
  func remove() {
    for file in files {
      for suffix in DatabaseFile.suffixes { unlink(file.url.path + suffix) }
    }
  }

  /// The state of all databases at one moment, at which no server can commit.
  private func snapshots(_ open: [String: PostgreSQLTransaction]) throws -> [Snapshot] {
    var snapshots: [Snapshot] = []
    for server in servers where server.cluster == nil { try reporting(server) { try mark(server) } }
    try repeatingWhileInUse {
      // All connections are there before the first lock: a new one may take seconds, for which servers would wait.
      try withTransactions(.readCommitted) { locks in
        try withoutCommits(to: servers[...], locks) {
          for server in servers {
            snapshots.append(try reporting(server) { try snapshot(of: server, open[server.name]) })
          }
        }
      }
    }
    return snapshots
  }

  /// Repeats `work` while tables are in use. Between two attempts no lock is held in any database, so that servers wait
  /// for one attempt at most.
  private func repeatingWhileInUse(_ work: () throws -> Void) throws {
    for attempt in 1... {
      do { return try work() } catch let error as BackupError {
        guard case .inUse = error, attempt < DatabaseCopyLimit.lockAttempts else { throw error }
        usleep(DatabaseCopyLimit.lockPauseMicroseconds)
      }
    }
  }

  private func snapshot(
    of server: BackupServer, _ transaction: PostgreSQLTransaction?
  ) throws -> Snapshot {
    if let transaction, let cluster = server.cluster {
      try PostgreSQLServerDatabase.beginCopy(transaction)
      return .postgreSQL(transaction, cluster)
    }
    return .file(
      try ServerDatabase.openForReading(server.database.url, schema: server.schema).makeSnapshot())
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
  private func withoutCommits(
    to servers: ArraySlice<BackupServer>, _ locks: [String: PostgreSQLTransaction],
    _ work: () throws -> Void
  ) throws {
    guard let server = servers.first else { return try work() }
    try reporting(server) {
      if let transaction = locks[server.name] {
        try PostgreSQLServerDatabase.lockTables(transaction)
        return try withoutCommits(to: servers.dropFirst(), locks, work)
      }
      let queue = try ServerDatabase.openConnection(server.database.url, schema: server.schema)
      try queue.inTransaction(.immediate) { _ in
        try withoutCommits(to: servers.dropFirst(), locks, work)
        return .rollback
      }
      try queue.close()
    }
  }

  private func write(_ snapshot: Snapshot, of server: BackupServer, to url: URL) throws {
    switch snapshot {
    case .file(let snapshot): try write(snapshot, of: server, to: url)
    case .postgreSQL(let transaction, let cluster):
      try reporting(server) {
        do {
          _ = try cluster.copy.copy(transaction, toNew: url) {
            try BackupHistory.add(identity, in: $0)
          }
        } catch is DatabaseError {
          // Of the copy: the rows come from elsewhere.
          throw BackupError.notWritten(url)
        }
      }
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
    } catch let error as BackupError {
      // Of a database whose work is inside that of this one.
      throw error
    } catch ServerDatabaseError.newer {
      throw BackupError.newerDatabase(server.schema.name)
    } catch let error as ServerDatabaseError {
      throw BackupError.database(server.schema.name, error)
    } catch DatabaseCopyError.busy {
      throw BackupError.inUse(server.schema.name)
    } catch DatabaseMove.Failure.different(let table) {
      throw BackupError.different(server.schema.name, table: table)
    } catch DatabaseMove.Failure.unknownWithdrawals(let count) {
      throw BackupError.unknownWithdrawals(count: count)
    } catch let error as PostgreSQLError {
      let mapped = PostgreSQLServerDatabase.mapped(error) as? ServerDatabaseError
      throw BackupError.database(server.schema.name, mapped ?? .unreachable(error.description))
    } catch let error as DatabaseError where DatabaseCheck.isDamage(error) {
      throw BackupError.damagedDatabase(file)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      throw BackupError.busy(file)
    } catch {
      guard server.cluster != nil, !(error is DatabaseError) else {
        throw BackupError.unreadable(file)
      }
      throw BackupError.database(server.schema.name, .unreachable("\(error)"))
    }
  }
}
