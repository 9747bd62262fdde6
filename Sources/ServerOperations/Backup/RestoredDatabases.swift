// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import ServerStorage
import Settings
import Terminal

/// The databases of a restoration that get into a PostgreSQL cluster.
///
/// They are stored when the files of the servers are in their places, so that an error leaves all databases empty.
struct RestoredDatabases {
  /// A failure of the part that places files.
  private struct PlacementFailure: Error {
    let cause: any Error
  }

  private struct Restored {
    let server: StoredServer
    let target: PostgreSQLServerDatabase
  }

  private let databases: [Restored]

  /// - Parameters:
  ///   - servers: The restored servers, in the folder to which they were extracted.
  ///   - cluster: The address of the cluster; nil if all servers use files.
  init(of servers: [StoredServer], in cluster: PostgreSQLAddress?) {
    guard let cluster else {
      databases = []
      return
    }
    databases = servers.map {
      Restored(server: $0, target: $0.movedDatabase(in: cluster))
    }
  }

  /// Throws if a database cannot be reached or has data. Missing tables are created.
  func requireEmpty() async throws {
    for database in databases {
      do { try await database.server.move.requireEmpty(database.target) } catch {
        throw database.server.moveFailure(error)
      }
    }
  }

  /// Copies the rows of the extracted files to the databases, replaces the files by the record that the servers use
  /// PostgreSQL, and stores the rows after `place`.
  ///
  /// - Throws: `CommandFailure`; the error of `place`. Then no database has a row, unless the error says otherwise.
  func store(andThen place: () throws -> Void) throws {
    var isPlaced = false
    do {
      try store(databases[...]) {
        for database in databases { try database.server.useCluster() }
        try place()
        isPlaced = true
      }
    } catch let failure as PlacementFailure {
      throw failure.cause
    } catch  where isPlaced {
      let cause = (error as? CommandFailure)?.message ?? "\(error)"
      throw CommandFailure.machineFailed(
        "The files are restored, and a commit in PostgreSQL failed: move the folder away, empty the databases, and"
          + " restore the backup again. The cause: \(cause)")
    }
  }

  private func store(_ rest: ArraySlice<Restored>, andThen place: () throws -> Void) throws {
    guard let database = rest.first else {
      do { return try place() } catch { throw PlacementFailure(cause: error) }
    }
    do {
      try database.server.move.copy(from: database.server.database, to: database.target) {
        try store(rest.dropFirst(), andThen: place)
      }
    } catch let failure as PlacementFailure {
      throw failure
    } catch {
      throw database.server.moveFailure(error)
    }
  }

  /// Closes the connections.
  func close() {
    for database in databases { database.target.close() }
  }
}

extension StoredServer {
  /// Removes the extracted file, whose rows are in PostgreSQL, and records that the server uses that.
  fileprivate func useCluster() throws {
    for suffix in DatabaseFile.suffixes {
      let file = database.path + suffix
      guard FileManager.default.fileExists(atPath: file) else { continue }
      try FileManager.default.removeItem(atPath: file)
    }
    try recordPostgreSQL()
  }
}
