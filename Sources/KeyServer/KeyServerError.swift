import GRDB
import Logging
import QuietHTTP

/// The reason why a key server does not start or does not export.
public enum KeyServerError: Error, Hashable, Sendable {
  /// A setting is invalid; the text names it.
  case configuration(String)
  /// The database file cannot be opened or created.
  case database
  /// The schema of the database is newer than this program.
  case newerDatabase
  /// The wrapping key file cannot be read or created, or its content is not a key.
  case wrappingKey
  /// The export folder cannot be created.
  case exportFolder
  /// The database or the export folder failed, for example because the disk is full.
  case unavailable
}

extension KeyServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .configuration(let sentence): sentence
    case .database:
      "The key database cannot be opened: check databaseFile, the disk and the file's owner."
    case .newerDatabase:
      "The key database was written by a newer version of Firebreak: start that version, or restore an older backup."
    case .wrappingKey:
      """
      The wrapping key beside the database cannot be read or created: check databaseFile and its owner, or restore \
      the file from a backup.
      """
    case .exportFolder:
      "The export folder cannot be created: check exportFolder, the disk and the folder's owner."
    case .unavailable:
      "The key server could not read or write its data: check the disk, then try again; no data is incomplete."
    }
  }
}

extension KeyServerError {
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
