// SPDX-License-Identifier: Apache-2.0
import ServerStorage
import Terminal
import World

/// Errors of backups as failures of a command.
enum BackupFailure {
  /// Runs `work` and turns its errors into a `CommandFailure`.
  static func reporting<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let error as BackupError {
      throw CommandFailure(
        status: error.isOfMachine ? .machineFailed : .badInput,
        message: error.description.printable)
    } catch let error as FileError {
      throw CommandFailure(
        status: .machineFailed,
        message: "\(error.description.printable): check the disk and its permissions, then retry.")
    }
  }
}
