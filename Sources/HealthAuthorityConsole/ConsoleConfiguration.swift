// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgreSQL
import QuietHTTP
import Secrets
import ServerStorage

/// The configuration of a console.
package struct ConsoleConfiguration: Redacted, Sendable {
  /// The address to listen on.
  package var host: String
  /// The port to listen on; 0 takes a free one.
  package var port: Int
  /// The SQLite database.
  package var databaseFile: URL
  /// The address of a PostgreSQL database, which several consoles may share; nil for the SQLite database.
  package var databaseAddress: PostgreSQLAddress?
  /// The secret of the database, 32 bytes. A database belongs to one secret.
  package var secret: Data
  /// The start of the audit log, as `ConsoleAdministration.completeAuditUpgrade()` returned it; nil before.
  package var auditStart: AuditStart?
  /// The origin of the console as officials open it, such as `https://console.example`; nil for `http://localhost` with
  /// the port. Passkeys belong to its host name.
  package var origin: String?
  /// The page that opens the app with a code; nil if there is none.
  package var appAddress: URL?
  /// The time zone of the office, in which pages, texts for an SMS and lists have their times and days.
  package var timeZone: TimeZone
  /// The days for which a link for a new password works. Letters need more than one.
  package var linkDays = ConsoleLimit.linkDays
  /// True if the verification server sends SMS.
  package var sendsSMS = false
  /// The proxies whose `X-Forwarded-For` names the client.
  package var trustedProxies = TrustedProxies.none
  /// The place outside the database that gets a copy of the audit log; nil for none.
  package var auditDestination: AuditDestination?
  /// The routes of other consoles, for which this one listens.
  package var hosted: [HostedRoutes] = []
  /// The base-two logarithm of the cost of password hashes, for tests.
  var scryptCostLog = ConsoleLimit.scryptCostLog

  package init(
    host: String = "127.0.0.1", port: Int = 0, databaseFile: URL, secret: Data
  ) {
    self.host = host
    self.port = port
    self.databaseFile = databaseFile
    self.secret = secret
    timeZone = TimeZone(identifier: Self.standardTimeZone) ?? .gmt
  }

  /// The identifier of the zone of an office that has set none.
  package static let standardTimeZone = OfficeTime.standardZone

  /// Random bytes for a new database.
  package static let secretBytes = ConsoleLimit.secretBytes

  /// - Throws: `ConsoleError.configuration`, which names the field.
  package func check() throws(ConsoleError) {
    guard secret.count == ConsoleLimit.secretBytes else {
      throw .configuration("secret must have \(ConsoleLimit.secretBytes) bytes.")
    }
    guard let origin else { return }
    guard let url = URL(string: origin), url.isEncryptedOrLocal, url.isOfServer,
      url.path.isEmpty, url.query == nil, url.fragment == nil
    else {
      throw .configuration(
        "origin must be https:// and a host, without user and path, on a port of 1 to 65535; http only for this"
          + " machine.")
    }
  }
}

/// The errors of the console.
package enum ConsoleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value is not valid; the message names it.
  case configuration(String)
  /// The database belongs to another secret.
  case otherSecret
  /// A newer version has changed the database.
  case newerDatabase
  /// The database in PostgreSQL is empty, and the console had another one.
  case emptyDatabase
  /// The role of the process may not create or change the tables; the text is the message of the server.
  case deniedDatabase(String)
  /// The server of the database cannot be reached; the text is its message.
  case unreachableDatabase(String)
  /// The structure of the database is damaged.
  case damagedDatabase
  /// The database cannot be opened or written.
  case database

  package var description: String {
    switch self {
    case .configuration(let message): message
    case .otherSecret:
      "The secret of the console does not belong to its database: restore both from one backup."
    case .newerDatabase: ServerDatabaseError.newer.message(of: ConsoleDatabase.schema.name)
    case .emptyDatabase: ServerDatabaseError.empty.message(of: ConsoleDatabase.schema.name)
    case .deniedDatabase(let message):
      ServerDatabaseError.denied(message).message(of: ConsoleDatabase.schema.name)
    case .unreachableDatabase(let message):
      ServerDatabaseError.unreachable(message).message(of: ConsoleDatabase.schema.name)
    case .damagedDatabase: ServerDatabaseError.damaged.message(of: ConsoleDatabase.schema.name)
    case .database: ServerDatabaseError.unavailable.message(of: ConsoleDatabase.schema.name)
    }
  }

  /// The error of the console for an error of a transaction.
  init(storing error: any Error) {
    self = (error as? ServerDatabaseError).map { Self($0) } ?? .database
  }

  init(_ error: ServerDatabaseError) {
    self =
      switch error {
      case .otherSecret: .otherSecret
      case .newer: .newerDatabase
      case .damaged: .damagedDatabase
      case .empty: .emptyDatabase
      case .denied(let message): .deniedDatabase(message)
      case .unreachable(let message): .unreachableDatabase(message)
      case .lost, .unavailable: .database
      }
  }
}
