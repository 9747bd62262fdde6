// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HealthAuthorityConsole
import PKCS11
import Settings
import Terminal
import World

/// The keys that a server of the folder signs with. Concurrent changes wait for each other, and reach all processes
/// with the same database.
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
  package func add(from begin: Date? = nil) async throws -> [SigningKeyFacts] {
    let token = try tokenKey()
    return try await change { $0.append(try newKey(after: $0, from: begin ?? start, on: token)) }
  }

  /// Adds a key and ends the older ones after an overlap.
  ///
  /// - Parameters:
  ///   - begin: The start of its validity; `nil` for the server's lead from now.
  ///   - overlapSeconds: The time for which the older keys stay valid; `nil` for the server's default.
  /// - Returns: All keys.
  package func rotate(
    from begin: Date? = nil, overlapSeconds: Int? = nil
  ) async throws -> [SigningKeyFacts] {
    try await replaceAll(from: begin ?? start, overlapSeconds: overlapSeconds, by: try tokenKey())
  }

  /// - Parameter isRevoking: True to store with the keys that the files are not signed yet.
  private func replaceAll(
    from begin: Date, overlapSeconds: Int?, by token: TokenKey?, isRevoking: Bool = false
  ) async throws -> [SigningKeyFacts] {
    let end = begin.unixSecond + Int64(overlapSeconds ?? server.overlapSeconds)
    return try await change(isRevoking: isRevoking) { keys in
      let new = try newKey(after: keys, from: begin, on: token)
      for index in keys.indices { keys[index].end(at: end) }
      keys.append(new)
    }
  }

  /// Replaces all keys at once, because one was stolen, and signs the files of the key server again. After a failure, a
  /// second call with the same key on a token signs the files, and replaces no key.
  ///
  /// - Returns: All keys, and the key files that were written again.
  package func revoke() async throws -> (keys: [SigningKeyFacts], files: [String]) {
    guard server == .keys else { return (try await rotate(from: now, overlapSeconds: 0), []) }
    let token = try tokenKey()
    try await setup.synchronize(.keys)
    let unfinished = try keysOfUnfinishedRevocation(by: token)
    let keys =
      if let unfinished { unfinished } else {
        try await replaceAll(from: now, overlapSeconds: 0, by: token, isRevoking: true)
      }
    // Stored for all processes before the files are signed: none writes another one with the old keys afterwards.
    let files = try await setup.signExportsAgain()
    try await endRevocation()
    return (keys, files)
  }

  /// The keys if an earlier call has replaced them by the one on the token, and its files are not all signed.
  private func keysOfUnfinishedRevocation(by token: TokenKey?) throws -> [SigningKeyFacts]? {
    guard let token,
      let secrets = try KeySecrets.stored(in: setup.folder), let newest = secrets.signingKeys.last,
      let unfinished = secrets.unfinishedRevocation, newest.keyVersion == unfinished,
      token.publicKey.pemRepresentation == newest.publicKeyPEM
    else { return nil }
    return secrets.signingKeys.map(\.facts)
  }

  private func endRevocation() async throws {
    try await setup.sharing(.keys) {
      try setup.folder.keySecrets.withLock {
        guard var secrets = try KeySecrets.stored(in: setup.folder) else { return }
        secrets.unfinishedRevocation = nil
        try setup.folder.keySecrets.replace(secrets)
      }
    }
  }

  /// Changes the place of a key whose public key stays: to another URI of the same token key, or from its file to a
  /// token that it was copied to. Its private key is then removed from the file.
  ///
  /// - Returns: All keys.
  package func relocate() async throws -> [SigningKeyFacts] {
    guard let place, place != Self.newKeyInFile else {
      throw CommandFailure.badInput("--key takes the PKCS#11 URI of a key on a token.")
    }
    let token = try TokenKey(place, option: "--key")
    // The database has the private key until it is stored again.
    return try await setup.sharing(server.name, reseals: true) { try relocate(to: token) }
  }

  private func relocate(to token: TokenKey) throws -> [SigningKeyFacts] {
    try setup.folder.server(server.name).secrets.withLock {
      guard var keys = try stored(),
        let index = keys.firstIndex(where: {
          $0.publicKeyPEM == token.publicKey.pemRepresentation
        })
      else {
        throw CommandFailure.badInput(
          "--key: this key is not a signing key: `firebreak \(server.commandName) signing-key rotate`"
            + " makes it one.")
      }
      keys[index] = keys[index].relocated(to: token)
      try replace(keys)
      return keys.map(\.facts)
    }
  }

  /// Stores keys whose public parts and times are those that are stored.
  private func replace(_ keys: [SecretSigningKey]) throws {
    switch server {
    case .keys:
      guard var secrets = try KeySecrets.stored(in: setup.folder) else { return }
      secrets.signingKeys = keys
      try setup.folder.keySecrets.replace(secrets)
    case .verification:
      guard var secrets = try VerificationSecrets.stored(in: setup.folder) else { return }
      secrets.signingKeys = keys
      try setup.folder.verificationSecrets.replace(secrets)
    }
  }

  /// The present time in whole seconds.
  private var now: Date { Date(unixSecond: setup.clock.now.unixSecond) }

  private var start: Date { now.addingTimeInterval(TimeInterval(server.leadSeconds)) }

  /// Changes and stores the keys, which are created if there are none yet.
  private func change(
    isRevoking: Bool = false, _ change: (inout [SecretSigningKey]) throws -> Void
  ) async throws -> [SigningKeyFacts] {
    try await setup.sharing(server.name) {
      guard server == .verification else {
        return try changeExportKeys(isRevoking: isRevoking, change).map(\.facts)
      }
      return try setup.folder.verificationSecrets.withLock {
        var keys = try storedOrFirst()
        try change(&keys)
        try storeTokenKeys(keys)
        return keys.map(\.facts)
      }
    }
  }

  /// The document is signed before anything is stored, so that a missing root key changes nothing.
  private func changeExportKeys(
    isRevoking: Bool, _ change: (inout [SecretSigningKey]) throws -> Void
  ) throws -> [SecretSigningKey] {
    let files = setup.deviceConfiguration
    let root = try files.rootKeyOnToken(rootKey)
    var keys: [SecretSigningKey] = []
    return try files.sign(onToken: root != nil) {
      keys = try storedOrFirst()
      try change(&keys)
      return try files.draft(keys, rootKey: rootKey, on: root)
    } store: { signed, draft in
      try files.store(signed, draft.document)
      try storeExportKeys(keys, isRevoking: isRevoking)
      return keys
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

  /// The document is stored before: secrets without a document mean that the document was lost. The mark of a
  /// revocation is stored with the keys, so that an interruption loses neither.
  private func storeExportKeys(_ keys: [SecretSigningKey], isRevoking: Bool) throws {
    let keyID = try setup.keySettings().keyID
    var secrets = try KeySecrets.stored(in: setup.folder) ?? KeySecrets(keyID: keyID)
    secrets.signingKeys = keys
    if isRevoking { secrets.unfinishedRevocation = keys.last?.keyVersion }
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
  private func newKey(
    after keys: [SecretSigningKey], from: Date, on token: TokenKey?
  ) throws -> SecretSigningKey {
    try requireUsable(token, after: keys)
    return switch server {
    case .keys:
      SecretSigningKey(
        keyID: keys.last?.keyID ?? "", keyVersion: "v\(keys.count + 1)", validFrom: from,
        on: token)
    case .verification:
      SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from, on: token)
    }
  }

  /// The key on a token that becomes a signing key; `nil` for one that is generated. It is opened before the lock on
  /// the secrets is taken, because a token may not respond.
  private func tokenKey() throws -> TokenKey? {
    guard let place, place != Self.newKeyInFile else { return nil }
    return try TokenKey(place, option: "--key")
  }

  private func requireUsable(_ token: TokenKey?, after keys: [SecretSigningKey]) throws {
    guard place != nil else {
      guard keys.last?.tokenKey == nil else {
        throw CommandFailure.badInput(
          "The newest signing key is on a token: name the next one with `firebreak \(server.commandName)"
            + " signing-key rotate --key pkcs11:...`, or use --key \(Self.newKeyInFile)."
        )
      }
      return
    }
    let publicKey = token?.publicKey.pemRepresentation
    if let known = keys.first(where: { $0.publicKeyPEM == publicKey }) {
      throw CommandFailure.badInput(
        "--key: this key is the signing key \(known.name) already: create another one on the token."
      )
    }
  }
}

extension SecretSigningKey {
  /// The id, and the version if there is one.
  fileprivate var name: String {
    [keyID, keyVersion].compactMap { $0?.printable }.joined(separator: " ")
  }

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
