// SPDX-License-Identifier: Apache-2.0
import ServerStorage
import Settings
import Terminal
import World

extension OperationFailure {
  /// The failure of an operation that opened the database of a server. It is bad input if another version or other
  /// secrets have to be used, and a failure of the machine otherwise.
  init(_ error: ServerDatabaseError, of schema: DatabaseSchema) {
    let isInput =
      switch error {
      case .newer, .otherSecret: true
      case .damaged, .lost, .unavailable: false
      }
    self.init(
      cause: isInput ? .badInput : .machineFailed, message: error.message(of: schema.name))
  }

  /// Runs `work` on a backup and turns its errors into an `OperationFailure`.
  static func ofBackup<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let error as BackupError {
      throw OperationFailure(
        cause: error.isOfMachine ? .machineFailed : .badInput,
        message: error.description.printable)
    } catch let error as FileError {
      throw OperationFailure.machineFailed(
        "\(error.description.printable): check the disk and its permissions, then retry.")
    }
  }
}
