// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Secrets
import Settings
import Terminal
import World

/// The secrets of the key server: `keys/secrets.json`.
struct KeySecrets: Codable, Equatable, Redacted {
  /// The key for everything that the database stores encrypted or hashed, 32 bytes.
  let databaseKey: Data
  /// The keys that sign key files.
  var signingKeys: [SecretSigningKey]
  /// The instructions to phones of the newest device configuration, for a new one if that is lost; nil for none.
  var instructions: StoredInstructions?

  /// The version of the key that replaced stolen ones, until all files are signed with it; nil for none.
  var unfinishedRevocation: String?

  /// New secrets with the first version of the key `keyID`.
  init(keyID: String, randomness: any Randomness = SystemRandomness()) {
    databaseKey = Data(randomness.bytes(KeyServerLimit.databaseKeyBytes))
    signingKeys = [SecretSigningKey(keyID: keyID, keyVersion: "v1", validFrom: nil)]
  }

  /// The secrets of a server; `nil` before its first start.
  ///
  /// - Throws: `CommandFailure` if they are damaged, or lost while the database is there.
  static func stored(in folder: ServerFolder) throws -> KeySecrets? {
    try folder.keySecrets.read(Self.self, neededBy: folder.keyDatabase)
  }
}

extension ServerFolder {
  var keySecrets: PrivateFile { server(.keys).secrets }
}
