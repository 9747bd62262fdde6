// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Settings
import Terminal
import World

/// The machine's clock beside the times that a server has stored.
package struct ClockComparison {
  /// The time of the clock.
  package let now: Date
  /// The newest time that the server has stored; `nil` before its first start.
  package let newest: Date?
  /// The time that the operator has confirmed; `nil` for none.
  package let confirmed: Date?
  /// False if the times differ so much that the server publishes, deletes and forgets nothing.
  package let isPlausible: Bool
}

/// The clock of the machine, and the times in the databases.
extension ServerSetup {
  /// Compares the clock with the times in the database of a server.
  ///
  /// - Throws: `CommandFailure` if the server has no database yet.
  package func clockComparison(of server: ServerName) async throws -> ClockComparison {
    let now = clock.now
    let record = try await withTimes(of: server) {
      try await $0.clockRecord()
    } file: {
      try ServerState.clockRecord(in: $0.database, schema: $0.schema)
    }
    return ClockComparison(
      now: now, newest: record.newest, confirmed: record.confirmed,
      isPlausible: record.implausibleGap(to: now) == nil)
  }

  /// Stores that the clock is right: the server accepts its time within minutes.
  ///
  /// - Throws: `CommandFailure` if the server has no database yet.
  package func confirmClock(of server: ServerName) async throws {
    let now = clock.now
    try await withTimes(of: server) {
      try await $0.confirm(now)
    } file: {
      try ServerState.confirm(now, in: $0.database, schema: $0.schema)
    }
  }

  /// The servers of the folder that compare the clock with the times in their database.
  package var serversWithClock: [ServerName] {
    [.verification, .keys].filter(hasDatabase)
  }

  /// Runs one of the closures on the database of a server that was started.
  private func withTimes<Result>(
    of name: ServerName, postgreSQL: (PostgreSQLServerDatabase) async throws -> Result,
    file: (StoredServer) throws -> Result
  ) async throws -> Result {
    let server = folder.server(name)
    guard hasDatabase(of: name) else {
      throw CommandFailure.badInput(
        "There is no database \(server.database.path.printable): name the servers' folder with --data."
      )
    }
    do {
      guard let database = try postgreSQLDatabase(of: name) else { return try file(server) }
      return try await postgreSQL(database)
    } catch let error as ServerDatabaseError {
      throw CommandFailure(error, of: server.schema)
    }
  }
}

extension StoredServer {
  /// Stores that the clock was right at `now`.
  func confirm(_ now: Date) throws {
    do {
      try ServerState.confirm(now, in: database, schema: schema)
    } catch {
      throw CommandFailure(error, of: schema)
    }
  }
}
