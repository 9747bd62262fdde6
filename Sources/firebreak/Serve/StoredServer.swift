// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import ServerStorage
import TextEncodings
import VerificationServer

/// The files and the database of one server in the folder.
struct StoredServer {
  let name: ServerName
  let folder: ServerFolder

  /// The database.
  var database: URL {
    switch name {
    case .verification: folder.verificationDatabase
    case .keys: folder.keyDatabase
    case .console: folder.consoleDatabase
    }
  }

  /// The schema of the database.
  var schema: DatabaseSchema {
    switch name {
    case .verification: VerificationServer.databaseSchema
    case .keys: KeyServer.databaseSchema
    case .console: HealthAuthorityConsole.databaseSchema
    }
  }

  /// The file with the secrets, whose lock excludes changes of keys.
  var secrets: PrivateFile {
    switch name {
    case .verification: folder.verificationSecrets
    case .keys: folder.keySecrets
    case .console: folder.consoleSecrets
    }
  }

  /// The settings of the file, the options and the defaults, without the files that they name.
  func settingsInForce(_ options: ServerOptions) throws -> JSONValue {
    let setup = ServerSetup(folder: folder, options: options)
    return switch name {
    case .verification: try setup.verificationSettings().inForce
    case .keys: try setup.keySettings().inForce
    case .console: try ConsoleSettings(folder.consoleSettings, readsFiles: false).inForce
    }
  }

  /// The files beside the database that the server needs; some may not exist.
  var files: [URL] {
    switch name {
    case .verification: [secrets.url, folder.verificationSettings.url]
    case .keys:
      [
        secrets.url, folder.keySettings.url, folder.deviceConfiguration,
        folder.rootPrivateKey.url, folder.rootPublicKey, folder.tokenPublicKeys.url,
      ]
    case .console: [secrets.url, folder.consoleSettings.url]
    }
  }
}
