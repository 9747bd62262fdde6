// SPDX-License-Identifier: Apache-2.0
import ServerStorage
import Terminal

extension CommandFailure {
  /// The failure of a command that opened the database of a server. It is bad input if another version or other secrets
  /// have to be used, and a failure of the machine otherwise.
  init(_ error: ServerDatabaseError, of schema: DatabaseSchema) {
    let isInput =
      switch error {
      case .newer, .otherSecret: true
      case .damaged, .lost, .unavailable: false
      }
    self.init(
      status: isInput ? .badInput : .machineFailed, message: error.message(of: schema.name))
  }
}
