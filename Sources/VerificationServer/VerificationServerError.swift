// SPDX-License-Identifier: Apache-2.0
import QuietHTTP
import ServerStorage

/// The errors of the verification server.
public enum VerificationServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The configuration is invalid; the text names the field and the allowed values.
  case badConfiguration(String)
  /// The database did not store anything: retry later.
  case storageUnavailable
  /// The database was created with another `codeHashKey`.
  case otherCodeHashKey
  /// The database in PostgreSQL is new, and the server had another one.
  case emptyDatabase
  /// The role of the process may not create or change the tables; the text is the message of the server.
  case deniedDatabase(String)
  /// A newer version has migrated the database.
  case newerDatabase
  /// The structure of the database is damaged, so the server does not start.
  case damagedDatabase
  /// The server of the database cannot be reached; the text is its message.
  case unreachableDatabase(String)
  /// The clock was set, and its new time is not confirmed; the text says by how much.
  case implausibleClock(String)
  /// No token was signed and no code was used: retry later.
  case signingUnavailable
  /// No token was signed because the token of the signing key has too many signatures to make: retry later.
  case signingBusy
  /// So many codes are live that another one could be guessed: retry when some have expired.
  case tooManyLiveCodes

  public var description: String {
    switch self {
    case .badConfiguration(let message), .implausibleClock(let message): message
    case .storageUnavailable:
      "The database is not available: make room on its disk or check its file, then retry."
    case .otherCodeHashKey:
      "The database was created with another codeHashKey: restore both from one backup."
    case .emptyDatabase: ServerDatabaseError.empty.message(of: SQLiteCodeStorage.schema.name)
    case .deniedDatabase(let message):
      ServerDatabaseError.denied(message).message(of: SQLiteCodeStorage.schema.name)
    case .newerDatabase: ServerDatabaseError.newer.message(of: SQLiteCodeStorage.schema.name)
    case .damagedDatabase: ServerDatabaseError.damaged.message(of: SQLiteCodeStorage.schema.name)
    case .unreachableDatabase(let message):
      ServerDatabaseError.unreachable(message).message(of: SQLiteCodeStorage.schema.name)
    case .tooManyLiveCodes:
      "Too many codes are live to issue one that cannot be guessed: let some expire, or lower attempts.total."
    case .signingUnavailable: "No token could be signed: check the signing key, then retry."
    case .signingBusy:
      "The token of the signing key makes signatures more slowly than requests come: take a faster one, or retry later."
    }
  }
}

extension VerificationServerError {
  /// True if the server of the database cannot be reached.
  var isOfConnection: Bool {
    if case .unreachableDatabase = self { true } else { false }
  }

  /// The error of a request whose token or certificate was not signed because of `error`. A request that was cancelled
  /// or refused says nothing about the key.
  static func ofSignature(_ error: any Error) -> any Error {
    switch error {
    case is CancellationError, is QuietRefusal: error
    case is SignerCallsBusy: VerificationServerError.signingBusy
    default: VerificationServerError.signingUnavailable
    }
  }

  /// The error of a server whose database cannot be opened.
  static func opening(_ error: ServerDatabaseError) -> Self {
    switch error {
    case .damaged: .damagedDatabase
    default: Self(error)
    }
  }

  /// The error of a server whose database has this error.
  ///
  /// The caller of a route cannot do anything about damage or a lost file. `ServerHealth` reports them to the operator.
  init(_ error: ServerDatabaseError) {
    self =
      switch error {
      case .newer: .newerDatabase
      case .otherSecret: .otherCodeHashKey
      case .empty: .emptyDatabase
      case .denied(let message): .deniedDatabase(message)
      case .unreachable(let message): .unreachableDatabase(message)
      case .damaged, .lost, .unavailable: .storageUnavailable
      }
  }
}
