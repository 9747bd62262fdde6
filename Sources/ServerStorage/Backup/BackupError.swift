// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The reason why a backup is not written or not restored.
package enum BackupError: Error, Hashable, Sendable, CustomStringConvertible {
  case noDatabase(URL)
  /// The new file exists.
  case exists(URL)
  /// A file of the server cannot be read.
  case unreadable(URL)
  /// The copy of the database is damaged.
  case damagedDatabase(URL)
  /// A newer version of this program has migrated the database with this name.
  case newerDatabase(String)
  case notWritten(URL)
  /// The file is not a backup, is incomplete, or was changed.
  case damagedBackup(URL)
  /// A program holds a transaction in the database for too long.
  case busy(URL)
  /// The database with this name in PostgreSQL cannot be read.
  case database(String, ServerDatabaseError)
  /// Transactions hold tables of the database with this name in PostgreSQL for too long.
  case inUse(String)
  /// The rows of a table of the database with this name differ after they were copied.
  case different(String, table: String)
  /// This many withdrawn files are only in the key database in PostgreSQL, and not in the device configuration.
  case unknownWithdrawals(count: Int)

  package var description: String {
    switch self {
    case .noDatabase(let url):
      "There is no database in \(url.path): name the servers' folder with --data."
    case .exists(let url): "\(url.path) exists: name a new file."
    case .unreadable(let url): "\(url.path) cannot be read: check its disk and its permissions."
    case .damagedDatabase(let url):
      "The database is damaged: check \(url.path) and its disk, or restore an older backup."
    case .newerDatabase(let name): ServerDatabaseError.newer.message(of: name)
    case .notWritten(let url):
      "\(url.path) could not be written: check the disk and the folder's permissions, then retry."
    case .damagedBackup(let url):
      "\(url.path) is not a backup, or it is incomplete or damaged: use another copy."
    case .busy(let url):
      "\(url.path) has been locked by another program for \(Int(DatabaseSchema.busySeconds)) seconds: retry."
    case .database(let name, let error): error.message(of: name)
    case .inUse(let name):
      "The tables of the \(name) in PostgreSQL were locked by other sessions in each of"
        + " \(DatabaseCopyLimit.lockAttempts) attempts: retry."
    case .different(let name, let table):
      "The table \(table) of the \(name) differs after the copy, and no backup was written: check both disks."
    case .unknownWithdrawals(let count):
      "\(count) withdrawn \(count == 1 ? "file is" : "files are") in the key database and not in the device"
        + " configuration of this folder: copy that of the process where they were withdrawn."
    }
  }

  /// True if the machine failed, false if the input was wrong.
  package var isOfMachine: Bool {
    switch self {
    case .notWritten, .damagedDatabase, .unreadable, .busy, .inUse, .different: true
    case .noDatabase, .exists, .newerDatabase, .damagedBackup, .unknownWithdrawals: false
    case .database(_, let error): error.isOfMachine
    }
  }
}
