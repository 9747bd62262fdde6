// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import Settings
import World

/// The keys that a server of the folder signs with. Concurrent changes wait for each other.
package struct SigningKeyStore {
  let setup: ServerSetup
  let server: SigningServer
  /// The file of the private root key, which signs the list of the key server's keys; `nil` for the one beside the
  /// secrets. The verification server has none.
  let rootKey: String?

  package init(_ setup: ServerSetup, of server: SigningServer, rootKey: String? = nil) {
    self.setup = setup
    self.server = server
    self.rootKey = rootKey
  }

  /// The keys; `nil` if there are none yet.
  package func keys() throws -> [SigningKeyFacts]? { try stored()?.map(\.facts) }

  /// Adds a key; the others stay valid.
  ///
  /// - Parameter begin: The start of its validity; `nil` for the server's lead from now.
  /// - Returns: All keys.
  package func add(from begin: Date? = nil) throws -> [SigningKeyFacts] {
    try change { $0.append(newKey(after: $0, from: begin ?? start)) }
  }

  /// Adds a key and ends the older ones after an overlap.
  ///
  /// - Parameters:
  ///   - begin: The start of its validity; `nil` for the server's lead from now.
  ///   - overlapSeconds: The time for which the older keys stay valid; `nil` for the server's default.
  /// - Returns: All keys.
  package func rotate(
    from begin: Date? = nil, overlapSeconds: Int? = nil
  ) throws -> [SigningKeyFacts] {
    let begin = begin ?? start
    let end = begin.unixSecond + Int64(overlapSeconds ?? server.overlapSeconds)
    return try change { keys in
      let new = newKey(after: keys, from: begin)
      for index in keys.indices { keys[index].end(at: end) }
      keys.append(new)
    }
  }

  /// Replaces all keys at once, because one was stolen, and signs the files of the key server again.
  ///
  /// - Returns: All keys, and the key files that were written again.
  package func revoke() async throws -> (keys: [SigningKeyFacts], files: [String]) {
    let keys = try rotate(from: now, overlapSeconds: 0)
    return (keys, server == .keys ? try await setup.signExportsAgain() : [])
  }

  /// The present time in whole seconds.
  private var now: Date { Date(unixSecond: setup.clock.now.unixSecond) }

  private var start: Date { now.addingTimeInterval(TimeInterval(server.leadSeconds)) }

  /// Changes and stores the keys, which are created if there are none yet.
  private func change(_ change: (inout [SecretSigningKey]) -> Void) throws -> [SigningKeyFacts] {
    try setup.folder.server(server.name).secrets.withLock {
      var keys = try storedOrFirst()
      change(&keys)
      try store(keys)
      return keys.map(\.facts)
    }
  }

  private func stored() throws -> [SecretSigningKey]? {
    switch server {
    case .keys: try KeySecrets.stored(in: setup.folder)?.signingKeys
    case .verification: try VerificationSecrets.stored(in: setup.folder)?.signingKeys
    }
  }

  private func storedOrFirst() throws -> [SecretSigningKey] {
    switch server {
    case .keys:
      let keyID = try setup.keySettings().keyID
      return try stored() ?? KeySecrets(keyID: keyID).signingKeys
    case .verification: return try VerificationSecrets.storedOrNew(in: setup.folder).signingKeys
    }
  }

  /// Stores the keys and publishes them.
  private func store(_ keys: [SecretSigningKey]) throws {
    switch server {
    case .keys: try storeExportKeys(keys)
    case .verification: try storeTokenKeys(keys)
    }
  }

  /// The document is signed before anything is stored, so that a missing root key changes nothing. It is
  /// stored first: secrets without a document mean that the document was lost.
  private func storeExportKeys(_ keys: [SecretSigningKey]) throws {
    let keyID = try setup.keySettings().keyID
    let next = try setup.deviceConfiguration.next(keys, rootKey: rootKey)
    try next.store()
    var secrets = try KeySecrets.stored(in: setup.folder) ?? KeySecrets(keyID: keyID)
    secrets.signingKeys = keys
    try setup.folder.keySecrets.replace(secrets)
  }

  /// The public keys are written first, so that the key server knows a key before it signs.
  private func storeTokenKeys(_ keys: [SecretSigningKey]) throws {
    var secrets = try VerificationSecrets.storedOrNew(in: setup.folder)
    secrets.signingKeys = keys
    try setup.folder.tokenPublicKeys.write(keys, at: setup.clock.now)
    try setup.folder.verificationSecrets.replace(secrets)
  }

  /// A new key with the id or version that follows those of `keys`.
  private func newKey(after keys: [SecretSigningKey], from: Date) -> SecretSigningKey {
    switch server {
    case .keys:
      SecretSigningKey(
        keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from)
    case .verification:
      SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
    }
  }
}

extension SecretSigningKey {
  /// The key without its private part.
  fileprivate var facts: SigningKeyFacts {
    SigningKeyFacts(
      id: keyID, version: keyVersion, publicKeyPEM: publicKeyPEM, validFrom: validFrom,
      validThru: validThru)
  }

  /// Ends the key at `time`, unless it ends earlier. A key that begins later is never valid.
  fileprivate mutating func end(at time: Int64) {
    validThru = max(min(validThru ?? time, time), validFrom ?? time)
  }
}
