// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import PKCS11
import Settings
import Terminal
import World

/// The signed device configuration of the key server, and the root key that signs it.
///
/// The private root key is created beside the secrets. The authority may move it to another place; then the
/// commands that change the document need `--root-key`.
package struct DeviceConfigurationFiles: Sendable {
  let folder: ServerFolder
  let clock: any WallClock
  /// Tells the operator that the document has to be signed.
  let warn: @Sendable (String) -> Void

  /// The newest document, verified with the root key; `nil` if there is none yet.
  ///
  /// - Parameter root: The key that must have signed it; `nil` for the public root key of the folder.
  /// - Throws: `CommandFailure` if the document or the public root key is damaged.
  func current(signedBy root: RootKey? = nil) throws -> DeviceConfiguration? {
    let file = folder.deviceConfiguration
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch CocoaError.fileReadNoSuchFile {
      return nil
    } catch {
      throw CommandFailure.badInput(
        "\(file.path.printable) cannot be read: check its permissions, or restore it from a backup."
      )
    }
    do {
      return try UnverifiedDeviceConfiguration(decoding: data).verified(
        by: try root ?? publicRootKey())
    } catch let error as DeviceConfigurationError {
      throw CommandFailure.badInput(
        "\(file.path.printable): \(error) Restore the file from a backup.")
    }
  }

  /// The newest document; with the instructions that are stored with the secrets if they are newer, or it is lost.
  func newest() throws -> DeviceConfiguration? {
    let document = try current()
    guard let stored = try KeySecrets.stored(in: folder)?.instructions,
      stored.version > document?.version ?? 0
    else { return document }
    return stored.document(following: document, at: clock.now)
  }

  /// The newest document, for operations that need one.
  package func existing() throws -> DeviceConfiguration {
    try refuseLost()
    guard let document = try current() else {
      throw CommandFailure.badInput(
        "The key server of \(folder.url.path.printable) has no device configuration yet: start it first."
      )
    }
    return document
  }

  /// The public root key, which phones are configured with.
  package func publicRootKey() throws -> RootKey {
    do {
      let pem = try String(contentsOf: folder.rootPublicKey, encoding: .utf8)
      return try RootKey(publicKeyPEM: pem)
    } catch {
      throw CommandFailure.badInput(
        "\(folder.rootPublicKey.path.printable) is missing or not a public key: restore it from a backup."
      )
    }
  }

  /// Signs and stores the next document with the present signing keys, the next version and `change`.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the private root key; `nil` for the one beside the secrets.
  ///   - lifetimeSeconds: The time until the expiry; `nil` for that of the newest document.
  ///   - replacesLost: If the newest document was lost, starts with a new one that has its instructions to phones.
  /// - Returns: The document.
  @discardableResult
  package func publish(
    _ change: DocumentChange? = nil, rootKey: String? = nil, lifetimeSeconds: Int64? = nil,
    replacesLost: Bool = false
  ) throws -> DeviceConfiguration {
    let root = try rootKeyOnToken(rootKey)
    return try sign(onToken: root != nil) {
      let secrets = try KeySecrets.stored(in: folder)
      if secrets == nil || !replacesLost { _ = try existing() }
      return try draft(
        secrets?.signingKeys ?? [], rootKey: rootKey, on: root, lifetimeSeconds: lifetimeSeconds,
        replacesLost: replacesLost, change)
    } store: { signed, draft in
      try store(signed, draft.document)
      return draft.document
    }
  }

  /// A document that is not signed yet, and the key that signs it.
  struct Draft {
    let document: DeviceConfiguration
    let root: RootPrivateKey
  }

  /// Signs and stores the next document. A key on a token signs without the lock on the secrets, for which requests of
  /// the servers wait; if something was changed meanwhile, another document is signed.
  ///
  /// - Parameters:
  ///   - onToken: True if the root key is on a token.
  ///   - draft: Makes the document. Called while the lock is held, and may be called again.
  ///   - store: Stores what depends on the document. Called once, while the lock is held.
  /// - Returns: The result of `store`.
  func sign<Value>(
    onToken: Bool, _ draft: () throws -> Draft, store: (_ signed: Data, Draft) throws -> Value
  ) throws -> Value {
    guard onToken else {
      return try folder.keySecrets.withLock {
        let draft = try draft()
        return try store(signed(draft), draft)
      }
    }
    for _ in 0..<Self.signaturesMax {
      let (draft, before) = try folder.keySecrets.withLock { (try draft(), try basis()) }
      let signed = try signed(draft)
      let stored = try folder.keySecrets.withLock { () throws -> Value? in
        guard try basis() == before else { return nil }
        return try store(signed, draft)
      }
      if let stored { return stored }
    }
    throw CommandFailure.machineFailed(
      "The device configuration was changed by other commands meanwhile: run the command again.")
  }

  /// The content of the folder from which a document is made.
  private struct Basis: Equatable {
    let secrets: KeySecrets?
    let document: DeviceConfiguration?
  }

  private func basis() throws -> Basis {
    Basis(secrets: try KeySecrets.stored(in: folder), document: try current())
  }

  /// The number of signatures after which a command gives up, because others change the document all the time.
  private static let signaturesMax = 5

  /// Makes and signs the next document, as `draft`. Called while the lock on the secrets is held.
  ///
  /// - Returns: The document and the closure that stores it.
  func next(
    _ keys: [SecretSigningKey], rootKey: String?, replacesLost: Bool = false,
    after newest: DeviceConfiguration? = nil
  ) throws -> (document: DeviceConfiguration, store: () throws -> Void) {
    let draft = try draft(keys, rootKey: rootKey, replacesLost: replacesLost, after: newest)
    let signed = try signed(draft)
    return (draft.document, { try store(signed, draft.document) })
  }

  /// Makes the next document with `keys` and a change. Called while the lock on the secrets is held.
  ///
  /// The version is at least the time in Unix seconds, so that it is higher than that of a lost document.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the private root key; `nil` for the one beside the secrets.
  ///   - token: The root key if `rootKey` is on a token that was opened before; `nil` to open it.
  ///   - lifetimeSeconds: The time until the expiry; `nil` for that of the newest document.
  ///   - replacesLost: If the newest document was lost, starts with a new one that has its instructions to phones.
  ///   - newest: The newest document, if it is not the one in the folder.
  func draft(
    _ keys: [SecretSigningKey], rootKey: String?, on token: TokenKey? = nil,
    lifetimeSeconds: Int64? = nil, replacesLost: Bool = false,
    after newest: DeviceConfiguration? = nil, _ change: DocumentChange? = nil
  ) throws -> Draft {
    if !replacesLost { try refuseLost() }
    try createRootKey(rootKey, on: token)
    let root = try privateRootKey(rootKey, on: token)
    let now = clock.now
    let published = try Self.publicKeys(keys, at: now)
    let previous = try newest ?? self.newest()
    var document =
      previous?.next(keys: published, issued: now, lifetimeSeconds: lifetimeSeconds)
      ?? .first(keys: published, issued: now, lifetimeSeconds: lifetimeSeconds)
    document.version = max(document.version, Int(now.unixSecond))
    change?.apply(to: &document)
    return Draft(document: document, root: root)
  }

  private func signed(_ draft: Draft) throws -> Data {
    do {
      return try UnverifiedDeviceConfiguration.signed(draft.document, by: draft.root).encoded()
    } catch let error as DeviceConfigurationError {
      throw CommandFailure.badInput("\(error)")
    } catch let error as TokenKeyError {
      throw CommandFailure(error, option: "--root-key")
    } catch {
      throw CommandFailure.machineFailed("--root-key: \(error)")
    }
  }

  /// Stores a signed document. Called while the lock is held.
  func store(_ signed: Data, _ document: DeviceConfiguration) throws {
    try storeInstructions(of: document)
    try write(signed, to: folder.deviceConfiguration, permissions: 0o600)
  }

  /// Stores the instructions of a document that cannot be signed yet. The next document has them.
  func storePending(_ document: DeviceConfiguration) throws {
    guard document.version > (try current()?.version ?? 0) else { return }
    try storeInstructions(of: document)
  }

  /// Stores the instructions of `document` with the secrets, if there are secrets, and not newer instructions.
  private func storeInstructions(of document: DeviceConfiguration) throws {
    let instructions = StoredInstructions(document)
    guard var secrets = try KeySecrets.stored(in: folder), secrets.instructions != instructions,
      secrets.instructions?.version ?? 0 <= document.version
    else { return }
    secrets.instructions = instructions
    try folder.keySecrets.replace(secrets)
  }

  /// True if newer instructions than those of `document` are stored.
  private func hasPending(after document: DeviceConfiguration) throws -> Bool {
    try KeySecrets.stored(in: folder)?.instructions?.version ?? 0 > document.version
  }

  /// Creates the root key and the first document if there are none yet. Signs the document again if it lacks a key or
  /// half of its validity is over, and the private root key exists. Called while the lock is held.
  ///
  /// - Parameter renews: False if a document is signed again otherwise: `isRenewalDue()`.
  func prepare(_ keys: [SecretSigningKey], renews: Bool = true) throws {
    try createRootKey(nil)
    try refuseLost()
    let now = clock.now
    let document = try current()
    if let document {
      try storeInstructions(of: document)
      if try isComplete(document, keys, at: now), try !hasPending(after: document) { return }
    }
    if hasRootPrivateKey || document == nil {
      if renews || document == nil { try next(keys, rootKey: nil).store() }
    } else if let document {
      let time = UTCTime(unixSecond: document.expires).text
      warn(
        "The device configuration expires at \(time), or lacks a signing key, a pause or withdrawn files: run"
          + " `firebreak key-server device-configuration publish --root-key FILE`.")
    }
  }

  /// True if `prepare` would sign the document again.
  func isRenewalDue() throws -> Bool {
    guard hasRootPrivateKey, let document = try current() else { return false }
    let keys = try KeySecrets.stored(in: folder)?.signingKeys ?? []
    return try !isComplete(document, keys, at: clock.now) || hasPending(after: document)
  }

  /// True if the private root key is beside the secrets.
  private var hasRootPrivateKey: Bool {
    FileManager.default.fileExists(atPath: folder.rootPrivateKey.url.path)
  }

  /// The public parts of the keys that are valid now or later.
  private static func publicKeys(
    _ keys: [SecretSigningKey], at now: Date
  ) throws -> [DeviceConfiguration.Key] {
    try keys.filter { $0.validThru ?? .max > now.unixSecond }.map {
      try $0.exportSigner().publicKey()
    }
  }

  /// True if the folder has data of an earlier run. Secrets are stored after the first document.
  private var isInUse: Bool {
    [folder.keySecrets.url, folder.keyDatabase].contains {
      FileManager.default.fileExists(atPath: $0.path)
    }
  }

  /// Throws if the document of an earlier run is missing: phones reject a new one of a lower version.
  private func refuseLost() throws {
    guard isInUse, !FileManager.default.fileExists(atPath: folder.deviceConfiguration.path) else {
      return
    }
    throw CommandFailure.badInput(
      "\(folder.deviceConfiguration.path.printable) is missing: restore it from a backup, or run"
        + " `firebreak key-server device-configuration publish`."
    )
  }

  private func isComplete(
    _ document: DeviceConfiguration, _ keys: [SecretSigningKey], at now: Date
  ) throws -> Bool {
    try Self.publicKeys(keys, at: now).allSatisfy(document.keys.contains)
      && document.renewal > now.unixSecond
  }

  /// Creates the root key, or uses the operator's. Creates nothing if the public key exists, because the private key
  /// may have been moved.
  private func createRootKey(_ path: String?, on token: TokenKey? = nil) throws {
    guard !FileManager.default.fileExists(atPath: folder.rootPublicKey.path) else { return }
    let file = folder.rootPrivateKey.url
    if path == nil, !FileManager.default.fileExists(atPath: file.path) {
      guard !isInUse else {
        throw CommandFailure.badInput(
          "\(folder.rootPublicKey.path.printable) and \(file.path.printable) are missing: restore one of"
            + " them from a backup.")
      }
      try write(
        Data(P256.Signing.PrivateKey().pemRepresentation.utf8), to: file, permissions: 0o600)
    }
    let root = try privateRootKey(path, on: token, isNew: true).rootKey
    _ = try current(signedBy: root)
    try write(Data(root.publicKeyPEM.utf8), to: folder.rootPublicKey)
  }

  /// The root key on a token; `nil` for one in a file. It is opened before the lock on the secrets is taken, because a
  /// token may not respond.
  func rootKeyOnToken(_ path: String?) throws -> TokenKey? {
    guard let path, path.hasPrefix(TokenKeyURI.scheme) else { return nil }
    return try TokenKey(path, option: "--root-key")
  }

  /// The private root key: in a file, or on a token whose PKCS#11 URI takes the place of the file's name.
  private func privateRootKey(
    _ path: String?, on token: TokenKey?, isNew: Bool = false
  ) throws -> RootPrivateKey {
    if let token = try token ?? rootKeyOnToken(path) {
      let root = RootPrivateKey(token)
      try requireTrusted(root, isNew: isNew, "the key on the token")
      return root
    }
    let file = path.map { PrivateFile(URL(fileURLWithPath: $0)) } ?? folder.rootPrivateKey
    guard path != nil || FileManager.default.fileExists(atPath: file.url.path) else {
      throw CommandFailure.badInput(
        "The root key is not in \(file.url.path.printable): name its file with --root-key.")
    }
    let text = try file.secret(named: "--root-key")
    let key = P256KeyFile(Data(text.utf8), subject: "--root-key: \(file.url.path.printable)")
    let root = try RootPrivateKey(privateKeyPEM: try key.privateKeyPEM())
    try requireTrusted(root, isNew: isNew, file.url.path.printable)
    return root
  }

  private func requireTrusted(_ root: RootPrivateKey, isNew: Bool, _ place: String) throws {
    guard try isNew || root.rootKey.fingerprint == publicRootKey().fingerprint else {
      throw CommandFailure.badInput(
        "--root-key: \(place) does not belong to \(folder.rootPublicKey.path.printable), which phones trust."
      )
    }
  }

  private func write(_ data: Data, to url: URL, permissions: mode_t = 0o644) throws {
    do {
      try AtomicFile.write(data, to: url, permissions: permissions)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written: check the disk, then retry.")
    }
  }
}

extension DeviceConfiguration {
  /// The time from which a server with the private root key signs again: half of the document's validity.
  var renewal: Int64 { issued + (expires - issued) / 2 }
}
