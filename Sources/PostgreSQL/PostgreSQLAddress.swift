// SPDX-License-Identifier: Apache-2.0
import CPostgreSQL
import Foundation
import Secrets

/// The address of a PostgreSQL database and the credentials for it, as libpq reads them.
///
/// Its text never appears in logs, because it may contain a password.
package struct PostgreSQLAddress: Redacted, Hashable, Sendable {
  /// A text that is no address.
  package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The parameters of libpq by keyword, such as `host` and `sslmode`.
  private var parameters: [String: String]

  /// False for a database that must have data. If it is empty, the address is wrong or a restoration was forgotten.
  package var mayBeEmpty = true

  /// The factor of the limits of time in `PostgreSQLLimit`; more than 1 for tests on a busy machine.
  package var timeFactor = 1.0

  /// Parameters that are set unless the text sets them. The keepalives find a dead peer while the connection is idle,
  /// `connect_timeout` counts for each host, and only a server that accepts writes is used.
  private static let defaults = [
    "connect_timeout": "3", "keepalives_idle": "5", "keepalives_interval": "2",
    "keepalives_count": "3", "tcp_user_timeout": "10000", "target_session_attrs": "read-write",
    "application_name": "firebreak", "gssencmode": "disable",
  ]
  /// Parameters that the text may not set, with their only value.
  private static let fixed = ["client_encoding": "UTF8", "fallback_application_name": "firebreak"]

  /// Reads a `postgresql://` URL, or the pairs of keyword and value that libpq takes.
  ///
  /// - Throws: `Invalid`; its description does not quote the text.
  package init(_ text: String) throws(Invalid) {
    guard let given = Self.parameters(of: text) else {
      throw Invalid(
        description: """
          The address of the database is not valid: use postgresql://USER@HOST[,HOST]/?sslmode=verify-full, or \
          postgresql:///?host=FOLDER&user=USER for a socket.
          """)
    }
    guard given["keepalives"] != "0" else {
      throw Invalid(
        description: """
          The address of the database has keepalives=0, with which lost connections are not noticed: remove it.
          """)
    }
    // One for each host; an empty one is the usual port. libpq skips white space around them.
    let ports = (given["port"] ?? "").split(separator: ",")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    guard ports.allSatisfy({ UInt16($0).map { $0 > 0 } ?? false }) else {
      throw Invalid(description: "The address of the database has an invalid port: use 1 to 65535.")
    }
    if let seconds = given["connect_timeout"] {
      guard let seconds = Int(seconds), PostgreSQLLimit.connectSeconds.contains(seconds) else {
        let range = PostgreSQLLimit.connectSeconds
        throw Invalid(
          description: """
            The address of the database has an invalid connect_timeout: use \(range.lowerBound) to \
            \(range.upperBound) seconds, or remove it.
            """)
      }
    }
    parameters = Self.defaults.merging(given) { $1 }.merging(Self.fixed) { $1 }
  }

  /// Returns the address of the database `name` of the same cluster. Without a user in the address, the role has the
  /// name of the database.
  package func database(_ name: String) -> PostgreSQLAddress {
    var address = self
    address.parameters["dbname"] = name
    if address.parameters["user"] == nil { address.parameters["user"] = name }
    return address
  }

  /// The same address for connections to a server that accepts changes, whatever the text says.
  var ofPrimary: PostgreSQLAddress {
    var address = self
    address.parameters["target_session_attrs"] = "read-write"
    return address
  }

  /// False if connections may reach a standby.
  var isOfPrimary: Bool { parameters["target_session_attrs"] == "read-write" }

  /// The name of the database; empty if the address names none.
  package var databaseName: String { parameters["dbname"] ?? "" }

  /// The name of the database only.
  package var description: String { "PostgreSQLAddress(\(databaseName))" }

  /// Returns the keywords and values for libpq.
  ///
  /// - Parameter statementSeconds: The time after which the server ends a statement.
  func connectionParameters(statementSeconds: Int) -> [(keyword: String, value: String)] {
    var all = parameters
    let lockSeconds = Int(Double(PostgreSQLLimit.lockSeconds) * timeFactor)
    let settings = [
      "statement_timeout=\(statementSeconds * 1_000)",
      "lock_timeout=\(lockSeconds * 1_000)",
      "idle_in_transaction_session_timeout=\(PostgreSQLLimit.idleSeconds * 1_000)",
    ]
    // The settings of the address follow, so that they win.
    all["options"] =
      (settings.map { "-c \($0)" } + [all["options"] ?? ""]).joined(separator: " ")
    return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func parameters(of text: String) -> [String: String]? {
    guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &message) else {
      PQfreemem(message)
      return nil
    }
    defer { PQconninfoFree(options) }
    var parameters: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        parameters[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return parameters
  }
}

/// Limits of connections to PostgreSQL.
package enum PostgreSQLLimit {
  /// The valid values of `connect_timeout`, in seconds; libpq rounds 1 up to 2.
  package static let connectSeconds = 2...60
  /// The time for a request, in seconds: from the first statement to the answer to `COMMIT`. Afterwards the
  /// connection is closed, because a server that hangs answers neither statements nor cancellations.
  package static let requestSeconds: Double = 10
  /// The time for a transaction that reads or changes a whole table, in seconds.
  package static let longRequestSeconds: Double = 600
  /// The time in which a request gets a connection, in seconds. Short failovers pass unnoticed within it.
  package static let connectionWaitSeconds: Double = 5
  /// The time that a statement waits for a lock, in seconds.
  package static let lockSeconds = 5
  /// The time after which the server ends a transaction that waits for its client, in seconds.
  package static let idleSeconds = 60
  /// The pause after the first failed attempt to connect, in seconds. It doubles with every further one.
  package static let firstPauseSeconds = 0.1
  /// The longest pause between two attempts to connect, in seconds.
  package static let pauseSecondsMax = 2.0
  /// The number of times that a transaction is repeated after a conflict with another one.
  package static let repetitionsMax = 5
  /// The number of prepared statements of a connection. Further statements are sent with their text.
  package static let preparedStatementsMax = 200
}
