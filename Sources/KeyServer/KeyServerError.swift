import Logging

/// Why a key server does not start, or does not export.
public enum KeyServerError: Error, Hashable, Sendable {
  /// A value of the configuration; the sentence names it.
  case configuration(String)
  /// The database file cannot be opened or brought up to date: check the disk and its owner.
  case database
  /// The database was brought up to date by a later program than this one: start that one.
  case laterDatabase
  /// The file of the wrapping key cannot be read or made, or holds no key: check the disk, its owner and
  /// the last backup.
  case wrappingKey
  /// The export folder cannot be made: check the disk and its owner.
  case exportFolder
  /// This row of `waiting_keys` is not as it was written. No period is closed over it, and a server
  /// that starts takes no uploads: make a backup, then delete the row, whose keys are lost, or restore
  /// an earlier backup.
  case damagedRow(Int64)
  /// The database or the export folder refused, such as on a full disk: make room, then export again.
  case unavailable
}

extension KeyServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .configuration(let sentence): sentence
    case .database: "The key database cannot be opened: check databaseFile, the disk and its owner."
    case .laterDatabase:
      "The key database was written by a later Firebreak: start that one, or restore a backup of before."
    case .wrappingKey:
      "The wrapping key beside the database cannot be read or made: check databaseFile and its owner."
    case .exportFolder: "The export folder cannot be made: check exportFolder and its owner."
    case .damagedRow(let number):
      """
      Row \(number) of waiting_keys in the key database is damaged. No period can be closed, and after a restart \
      no upload is taken: make a backup, then delete that row, whose keys are lost, or restore an earlier backup.
      """
    case .unavailable:
      "The key server could not read or write its data: check the disk; nothing is half done."
    }
  }
}

extension KeyServerError {
  /// What a log may say of `error`: of those of others the kind only, as a database's message may quote what
  /// was to be stored.
  static func metadata(of error: any Error) -> Logger.Metadata {
    if let error = error as? KeyServerError { return ["reason": "\(error)"] }
    return ["kind": "\(type(of: error))"]
  }
}
