// SPDX-License-Identifier: Apache-2.0
import ServerStorage
import Settings
import Terminal
import World

extension CommandFailure {
  /// The failure of an operation that opened the database of a server. It is bad input if another version or other
  /// secrets have to be used, and a failure of the machine otherwise.
  init(_ error: ServerDatabaseError, of schema: DatabaseSchema) {
    self.init(
      status: error.isOfMachine ? .machineFailed : .badInput,
      message: error.message(of: schema.name))
  }

  /// Runs `work` on a backup and turns its errors into a `CommandFailure`.
  static func ofBackup<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw backupFailure(error) }
  }

  /// The asynchronous variant.
  static func ofBackup<Result>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch { throw backupFailure(error) }
  }

  private static func backupFailure(_ error: any Error) -> any Error {
    switch error {
    case let error as BackupError:
      CommandFailure(
        status: error.isOfMachine ? .machineFailed : .badInput,
        message: error.description.printable)
    case let error as FileError:
      CommandFailure.machineFailed(
        "\(error.description.printable): check the disk and its permissions, then retry.")
    default: error
    }
  }
}
