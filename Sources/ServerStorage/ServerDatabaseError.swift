// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

/// The reasons why the database of a server is not opened, or not written.
package enum ServerDatabaseError: Error, Hashable, Sendable {
  /// A newer version of this program has migrated the database.
  case newer
  /// The database belongs to another secret.
  case otherSecret
  /// The database is new, and the server had another one.
  case empty
  /// The structure of the database is damaged, so that written data could be lost.
  case damaged
  /// The file of the open database was deleted or replaced, so that written data is lost when the server stops.
  case lost
  /// The file cannot be opened, created or migrated.
  case unavailable
  /// The role may not create or change tables, or may not read or write one; the text is the server's message.
  case denied(String)
  /// The server of the database cannot be reached or did not run a request; the text is its message.
  case unreachable(String)

  /// True if the machine failed, false if another version, other secrets or another address have to be used.
  package var isOfMachine: Bool {
    switch self {
    case .newer, .otherSecret, .empty, .denied: false
    case .damaged, .lost, .unavailable, .unreachable: true
    }
  }

  /// The error and its remedy in one sentence for the operator.
  ///
  /// - Parameter name: The name of the database: `DatabaseSchema.name`.
  package func message(of name: String) -> String {
    switch self {
    case .newer:
      "The \(name) was written by a newer version of Firebreak: start that version, or restore an older backup."
    case .otherSecret:
      "The \(name) was created with another secret: restore both from one backup."
    case .empty:
      "The \(name) in PostgreSQL is empty, and this server had another one: correct DATABASE_URL, or restore the"
        + " database; to start without its data, delete postgresql.json in the folder of the server."
    case .damaged:
      "The \(name) is damaged, and nothing is stored: check its disk, and restore a backup."
    case .lost:
      "The file of the \(name) was deleted or replaced, and nothing is stored: restore it, then restart the server."
    case .unavailable:
      "The \(name) cannot be opened or written: check its disk and the file's owner, then retry."
    case .denied(let message):
      "The \(name) in PostgreSQL denies the role of this process what it needs (\(message)): run"
        + " `firebreak database migrate` with a role that owns the tables."
    case .unreachable(let message): Self.unreachable(name, message)
    }
  }

  private static func unreachable(_ name: String, _ message: String) -> String {
    if let fault = PostgreSQLTLSFault(in: message) {
      return fault.isInsecure
        ? "The connection to the \(name) would not be secure, and is not made: \(message). \(fault.remedy)"
        : "The server of the \(name) refuses the connection: \(message). \(fault.remedy)"
    }
    // The last line of libpq may be a question.
    let quoted = message.hasSuffix("?") ? message : message + "."
    return PostgreSQLError.isOfStandby(message)
      ? "The \(name) accepts no changes: \(quoted) Promote the standby, or name the primary in the address of the"
        + " database, then retry."
      : "The \(name) did not answer: \(quoted) Check the server of the database and its address, then retry."
  }
}
