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
  package func clockComparison(of server: ServerName) throws -> ClockComparison {
    let (server, now) = (try started(server), clock.now)
    let record: ClockRecord
    do {
      record = try ServerState.clockRecord(in: server.database, schema: server.schema)
    } catch {
      throw CommandFailure(error, of: server.schema)
    }
    return ClockComparison(
      now: now, newest: record.newest, confirmed: record.confirmed,
      isPlausible: record.implausibleGap(to: now) == nil)
  }

  /// Stores that the clock is right: the server accepts its time within minutes.
  ///
  /// - Throws: `CommandFailure` if the server has no database yet.
  package func confirmClock(of server: ServerName) throws {
    try started(server).confirm(clock.now)
  }

  /// The servers of the folder that compare the clock with the times in their database.
  package var serversWithClock: [ServerName] {
    [.verification, .keys].filter {
      FileManager.default.fileExists(atPath: folder.server($0).database.path)
    }
  }

  private func started(_ name: ServerName) throws -> StoredServer {
    let server = folder.server(name)
    guard FileManager.default.fileExists(atPath: server.database.path) else {
      throw CommandFailure.badInput(
        "There is no database \(server.database.path.printable): name the servers' folder with --data."
      )
    }
    return server
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
