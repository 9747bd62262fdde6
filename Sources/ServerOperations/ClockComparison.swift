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

  /// Compares the clock of `setup` with the times in the database of a server.
  ///
  /// - Parameter isConfirmed: True if the clock is right: the server then accepts it within minutes.
  package init(_ setup: ServerSetup, with server: ServerName, isConfirmed: Bool) throws {
    let server = setup.folder.server(server)
    guard FileManager.default.fileExists(atPath: server.database.path) else {
      throw OperationFailure.badInput(
        "There is no database \(server.database.path.printable): name the servers' folder with --data."
      )
    }
    now = setup.clock.now
    if isConfirmed { try server.confirm(now) }
    let record: ClockRecord
    do {
      record = try ServerState.clockRecord(in: server.database, schema: server.schema)
    } catch {
      throw OperationFailure(error, of: server.schema)
    }
    newest = record.newest
    confirmed = record.confirmed
    isPlausible = record.implausibleGap(to: now) == nil
  }
}

extension StoredServer {
  /// Stores that the clock was right at `now`.
  func confirm(_ now: Date) throws {
    do {
      try ServerState.confirm(now, in: database, schema: schema)
    } catch {
      throw OperationFailure(error, of: schema)
    }
  }
}
