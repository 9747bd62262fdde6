// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import Secrets
import Settings
import World

/// The secrets of the console: `console/secrets.json`.
struct ConsoleSecrets: Codable, Redacted {
  /// The secret of the database, 32 bytes.
  let databaseKey: Data
  /// The admin API key for the verification server in the same folder; `nil` until both servers have run in one
  /// process.
  var apiKey: String?
  /// The start of the audit log; nil until this version has used the secrets of a version before it.
  var auditStart: AuditStart?

  init(randomness: any Randomness) {
    databaseKey = Data(randomness.bytes(ConsoleConfiguration.secretBytes))
    auditStart = .empty
  }
}

extension ServerFolder {
  var consoleSecrets: PrivateFile { server(.console).secrets }
}
