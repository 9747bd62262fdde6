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
    }
  }

  /// True if the machine failed, false if the input was wrong.
  package var isOfMachine: Bool {
    switch self {
    case .notWritten, .damagedDatabase, .unreadable, .busy: true
    case .noDatabase, .exists, .newerDatabase, .damagedBackup: false
    }
  }
}
