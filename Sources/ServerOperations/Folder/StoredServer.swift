// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import ServerStorage
import Settings
import VerificationServer

/// The files and the database of one server in the folder.
struct StoredServer: Sendable {
  let name: ServerName
  let folder: ServerFolder

  /// The database.
  var database: URL { file("\(name.rawValue).sqlite") }

  /// The schema of the database.
  var schema: DatabaseSchema {
    switch name {
    case .verification: VerificationServer.databaseSchema
    case .keys: KeyServer.databaseSchema
    case .console: HealthAuthorityConsole.databaseSchema
    }
  }

  /// The file with the secrets, whose lock excludes changes of keys.
  var secrets: PrivateFile { PrivateFile(file("secrets.json")) }

  /// The settings of the operator.
  var settings: SettingsFile {
    SettingsFile(url: file("settings.json"), shared: folder.shared, server: name.rawValue)
  }

  /// The files beside the database that the server needs; some may not exist.
  var files: [URL] {
    let own = [secrets.url, settings.url]
    guard name == .keys else { return own }
    return own + [
      folder.deviceConfiguration, folder.rootPrivateKey.url, folder.rootPublicKey,
      folder.tokenPublicKeys.url,
    ]
  }

  /// True if the folder has a file of the server: its secrets or database, or what the operator prepares before its
  /// first start.
  var hasFiles: Bool {
    let prepared = [secrets.url, database, settings.url]
    return (name == .keys ? prepared + [folder.rootPrivateKey.url] : prepared)
      .contains { FileManager.default.fileExists(atPath: $0.path) }
  }

  private func file(_ name: String) -> URL {
    folder.folder(of: self.name).appendingPathComponent(name)
  }
}
