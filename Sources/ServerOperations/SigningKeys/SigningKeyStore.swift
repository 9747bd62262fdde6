// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HealthAuthorityConsole
import PKCS11
import Settings
import Terminal
import World

/// The keys that a server of the folder signs with. Concurrent changes wait for each other.
package struct SigningKeyStore {
  let setup: ServerSetup
  let server: SigningServer
  /// The file of the private root key, which signs the list of the key server's keys; `nil` for the one beside the
  /// secrets. The verification server has none.
  let rootKey: String?
  /// The place of a new key: `newKeyInFile`, or the PKCS#11 URI of a key on a token; `nil` for a file, unless the
  /// newest key is on a token.
  let place: String?

  /// The place of a key that is generated and stored with the secrets.
  package static let newKeyInFile = "file"

  package init(
    _ setup: ServerSetup, of server: SigningServer, rootKey: String? = nil, place: String? = nil
  ) {
    self.setup = setup
    self.server = server
    self.rootKey = rootKey
    self.place = place
  }

  /// True if `place` can be given to `init`.
  package static func isPlace(_ place: String) -> Bool {
    place == newKeyInFile || place.hasPrefix(TokenKeyURI.scheme)
  }

  /// The keys; `nil` if there are none yet.
  package func keys() throws -> [SigningKeyFacts]? { try stored()?.map(\.facts) }

  /// Adds a key; the others stay valid.
  ///
  /// - Parameter begin: The start of its validity; `nil` for the server's lead from now.
  /// - Returns: All keys.
  package func add(from begin: Date? = nil) throws -> [SigningKeyFacts] {
    try change { $0.append(try newKey(after: $0, from: begin ?? start)) }
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
      let new = try newKey(after: keys, from: begin)
      for index in keys.indices { keys[index].end(at: end) }
      keys.append(new)
    }
  }

  /// Replaces all keys at once, because one was stolen, and signs the files of the key server again. After a failure, a
  /// second call with the same key on a token signs the files, and replaces no key.
  ///
  /// - Returns: All keys, and the key files that were written again.
  package func revoke() async throws -> (keys: [SigningKeyFacts], files: [String]) {
    guard server == .keys else { return (try rotate(from: now, overlapSeconds: 0), []) }
    let keys = try keysOfUnfinishedRevocation() ?? replaceAll()
    let files = try await setup.signExportsAgain()
    try setRevocation(unfinished: nil)
    return (keys, files)
  }

  private func replaceAll() throws -> [SigningKeyFacts] {
    let keys = try rotate(from: now, overlapSeconds: 0)
    try setRevocation(unfinished: keys.last?.version)
    return keys
  }

  /// The keys if an earlier call has replaced them by the one in `place`, and its files are not all signed.
  private func keysOfUnfinishedRevocation() throws -> [SigningKeyFacts]? {
    guard let place, place != Self.newKeyInFile,
      let secrets = try KeySecrets.stored(in: setup.folder), let newest = secrets.signingKeys.last,
      let unfinished = secrets.unfinishedRevocation, newest.keyVersion == unfinished
    else { return nil }
    let key = try TokenKey(place, option: "--key")
    guard key.publicKey.pemRepresentation == newest.publicKeyPEM else { return nil }
    return secrets.signingKeys.map(\.facts)
  }

  private func setRevocation(unfinished version: String?) throws {
    try setup.folder.keySecrets.withLock {
      guard var secrets = try KeySecrets.stored(in: setup.folder) else { return }
      secrets.unfinishedRevocation = version
      try setup.folder.keySecrets.replace(secrets)
    }
  }

  /// Changes the place of a key whose public key stays: to another URI of the same token key, or from its file to a
  /// token that it was copied to. Its private key is then removed from the file.
  ///
  /// - Returns: All keys.
  package func relocate() throws -> [SigningKeyFacts] {
    guard server == .keys, let place, place != Self.newKeyInFile else {
      throw CommandFailure.badInput("--key takes the PKCS#11 URI of a key on a token.")
    }
    let token = try TokenKey(place, option: "--key")
    return try setup.folder.keySecrets.withLock {
      guard var secrets = try KeySecrets.stored(in: setup.folder),
        let index = secrets.signingKeys.firstIndex(where: {
          $0.publicKeyPEM == token.publicKey.pemRepresentation
        })
      else {
        throw CommandFailure.badInput(
          "--key: this key is not a signing key: `firebreak key-server signing-key rotate` makes it one."
        )
      }
      secrets.signingKeys[index] = secrets.signingKeys[index].relocated(to: token)
      try setup.folder.keySecrets.replace(secrets)
      return secrets.signingKeys.map(\.facts)
    }
  }

  /// The present time in whole seconds.
  private var now: Date { Date(unixSecond: setup.clock.now.unixSecond) }

  private var start: Date { now.addingTimeInterval(TimeInterval(server.leadSeconds)) }

  /// Changes and stores the keys, which are created if there are none yet.
  private func change(_ change: (inout [SecretSigningKey]) throws -> Void) throws
    -> [SigningKeyFacts]
  {
    try setup.folder.server(server.name).secrets.withLock {
      var keys = try storedOrFirst()
      try change(&keys)
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
  private func newKey(after keys: [SecretSigningKey], from: Date) throws -> SecretSigningKey {
    let token = try newTokenKey(after: keys)
    return switch server {
    case .keys:
      SecretSigningKey(
        keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from,
        on: token)
    case .verification:
      SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
    }
  }

  /// The key on a token that becomes a signing key; `nil` for one that is generated.
  private func newTokenKey(after keys: [SecretSigningKey]) throws -> TokenKey? {
    guard let place else {
      guard keys.last?.tokenKey == nil else {
        throw CommandFailure.badInput(
          "The newest signing key is on a token: name the next one with"
            + " `firebreak key-server signing-key rotate --key pkcs11:...`, or use --key \(Self.newKeyInFile)."
        )
      }
      return nil
    }
    guard place != Self.newKeyInFile else { return nil }
    let key = try TokenKey(place, option: "--key")
    let known = keys.first { $0.publicKeyPEM == key.publicKey.pemRepresentation }
    if let known {
      throw CommandFailure.badInput(
        "--key: this key is the signing key \(known.keyID.printable) \((known.keyVersion ?? "").printable) already:"
          + " create another one on the token.")
    }
    return key
  }
}

extension SecretSigningKey {
  /// The key without its private part.
  fileprivate var facts: SigningKeyFacts {
    SigningKeyFacts(
      id: keyID, version: keyVersion, publicKeyPEM: publicKeyPEM, validFrom: validFrom,
      validThru: validThru, tokenKey: tokenKey)
  }

  /// Ends the key at `time`, unless it ends earlier. A key that begins later is never valid.
  fileprivate mutating func end(at time: Int64) {
    validThru = max(min(validThru ?? time, time), validFrom ?? .min)
  }
}
