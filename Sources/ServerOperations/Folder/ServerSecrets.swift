// SPDX-License-Identifier: Apache-2.0
import Foundation
import Settings

/// The secrets of one server: its `secrets.json`.
protocol ServerSecrets: Codable {
  /// The secret that the server keeps from its first start, by which its folders are recognized.
  var identity: Data { get }
}

extension KeySecrets: ServerSecrets {
  var identity: Data { databaseKey }
}

extension VerificationSecrets: ServerSecrets {
  var identity: Data { codeHashKey }
}

extension ConsoleSecrets: ServerSecrets {
  var identity: Data { databaseKey }
}

extension StoredServer {
  /// The identity in the file of the secrets; nil if there is no file.
  var identity: Data? {
    get throws {
      switch name {
      case .keys: try secrets.read(KeySecrets.self)?.identity
      case .verification: try secrets.read(VerificationSecrets.self)?.identity
      case .console: try secrets.read(ConsoleSecrets.self)?.identity
      }
    }
  }
}
