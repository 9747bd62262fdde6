// SPDX-License-Identifier: Apache-2.0
import GRDB
import Logging
import QuietHTTP
import ServerStorage

/// The reason why a key server does not start or does not export.
public enum KeyServerError: Error, Hashable, Sendable {
  /// A setting is invalid; the text names it.
  case configuration(String)
  /// The database file cannot be opened or created.
  case database
  /// The schema of the database is newer than this program.
  case newerDatabase
  /// The database was created with another `databaseKey`.
  case otherDatabaseKey
  /// The database in PostgreSQL is new, and the server had another one.
  case emptyDatabase
  /// The role of the process may not create or change the tables; the text is the message of the server.
  case deniedDatabase(String)
  /// The clock was set, and its new time is not confirmed; the text says by how much.
  case implausibleClock(String)
  /// The structure of the database is damaged.
  case damagedDatabase
  /// The file of the open database was deleted or replaced.
  case lostDatabase
  /// The verification of a file failed after it was written.
  case damagedFile(String)
  /// A key cannot sign, for example because its token is missing; the text says why. Exports wait.
  case cannotSign(String)
  /// The export folder cannot be created.
  case exportFolder
  /// The object store of the key files failed; the text says why. Exports wait.
  case fileStore(String)
  /// The database or the export folder failed, for example because the disk is full.
  case unavailable
  /// Another process writes key files, and did not end within `ExportLease.seconds`.
  case exportsElsewhere
  /// The server of the database cannot be reached or did not run a request; the text is its message.
  case unreachableDatabase(String)
}

extension KeyServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .configuration(let message): message
    case .database:
      "The key database cannot be opened: check databaseFile, the disk and the file's owner."
    case .newerDatabase: Self.message(of: .newer)
    case .otherDatabaseKey:
      "The key database was created with another databaseKey: restore both from one backup."
    case .emptyDatabase: Self.message(of: .empty)
    case .deniedDatabase(let message): Self.message(of: .denied(message))
    case .implausibleClock(let message): message
    case .damagedDatabase: Self.message(of: .damaged)
    case .lostDatabase: Self.message(of: .lost)
    case .damagedFile(let name):
      "The key file \(name) was written and cannot be verified, so it is not published: check the disk and the memory."
    case .cannotSign(let message): message
    case .exportFolder:
      "The export folder cannot be created: check exportFolder, the disk and the folder's owner."
    case .fileStore(let message): message
    case .unavailable:
      "The key server could not read or write its data: check the disk, then try again; no file is incomplete."
    case .exportsElsewhere:
      "Another process has been writing key files for minutes: run the command again."
    case .unreachableDatabase(let message): Self.message(of: .unreachable(message))
    }
  }
}

extension KeyServerError {
  /// The error of a key server whose database has this error.
  init(_ error: ServerDatabaseError) {
    self =
      switch error {
      case .newer: .newerDatabase
      case .otherSecret: .otherDatabaseKey
      case .empty: .emptyDatabase
      case .denied(let message): .deniedDatabase(message)
      case .damaged: .damagedDatabase
      case .lost: .lostDatabase
      case .unavailable: .database
      case .unreachable(let message): .unreachableDatabase(message)
      }
  }

  private static func message(of error: ServerDatabaseError) -> String {
    error.message(of: SQLiteSchema.schema.name)
  }

  /// Log metadata for `error`: its cause without the statement and its arguments, which may quote an upload.
  static func metadata(of error: any Error) -> Logger.Metadata {
    if let error = error as? KeyServerError { return ["reason": "\(error)"] }
    if let error = error as? DatabaseError {
      let message = error.message ?? "no message"
      return ["cause": "SQLite \(error.extendedResultCode.rawValue): \(message)"]
    }
    return ["cause": "\(ErrorCause.text(error))"]
  }
}
