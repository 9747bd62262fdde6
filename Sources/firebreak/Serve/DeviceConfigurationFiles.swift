// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Synchronization
import Terminal
import World

/// The signed device configuration of the key server, and the root key that signs it.
///
/// The private root key is created beside the secrets. The authority may move it to another place; then the
/// commands that change the document need `--root-key`.
struct DeviceConfigurationFiles {
  let folder: ServerFolder
  var clock: any WallClock = SystemClock()
  /// Tells the operator that the document has to be signed.
  var warn: @Sendable (String) -> Void = { note($0) }

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

  /// The newest document for commands that need one.
  func existing() throws -> DeviceConfiguration {
    try refuseLost()
    guard let document = try current() else {
      throw CommandFailure.badInput(
        "The key server of \(folder.url.path.printable) has no device configuration yet: start it first."
      )
    }
    return document
  }

  /// The public root key, which phones are configured with.
  func publicRootKey() throws -> RootKey {
    do {
      let pem = try String(contentsOf: folder.rootPublicKey, encoding: .utf8)
      return try RootKey(publicKeyPEM: pem)
    } catch {
      throw CommandFailure.badInput(
        "\(folder.rootPublicKey.path.printable) is missing or not a public key: restore it from a backup."
      )
    }
  }

  /// Makes the next document with `keys` and a change. Called while the lock on the secrets is held.
  ///
  /// The version is at least the time in Unix seconds, so that it is higher than that of a lost document.
  ///
  /// - Parameters:
  ///   - rootKey: The file of the private root key; `nil` for the one beside the secrets.
  ///   - lifetimeSeconds: The time until the expiry; `nil` for that of the newest document.
  ///   - replacesLost: Starts with an empty document if the newest one was lost.
  /// - Returns: The document and the closure that stores it.
  func next(
    _ keys: [SecretSigningKey], rootKey: String?,
    lifetimeSeconds: Int64? = nil, replacesLost: Bool = false,
    _ change: (inout DeviceConfiguration) throws -> Void = { _ in }
  ) throws -> (document: DeviceConfiguration, store: () throws -> Void) {
    if !replacesLost { try refuseLost() }
    try createRootKey(rootKey)
    let root = try privateRootKey(rootKey)
    let now = clock.now
    let published = try Self.publicKeys(keys, at: now)
    var document =
      try current()?.next(keys: published, issued: now, lifetimeSeconds: lifetimeSeconds)
      ?? .first(keys: published, issued: now, lifetimeSeconds: lifetimeSeconds)
    document.version = max(document.version, Int(now.unixSecond))
    try change(&document)
    let signed: Data
    do {
      signed = try UnverifiedDeviceConfiguration.signed(document, by: root).encoded()
    } catch {
      throw CommandFailure.badInput("\(error)")
    }
    return (
      document, { try write(signed, to: folder.deviceConfiguration, permissions: 0o600) }
    )
  }

  /// Creates the root key and the first document if there are none yet. Signs the document again if it lacks a key or
  /// half of its validity is over, and the private root key exists. Called while the lock is held.
  func prepare(_ keys: [SecretSigningKey]) throws {
    try createRootKey(nil)
    try refuseLost()
    let now = clock.now
    let document = try current()
    if let document, try isComplete(document, keys, at: now) { return }
    if FileManager.default.fileExists(atPath: folder.rootPrivateKey.url.path) || document == nil {
      try next(keys, rootKey: nil).store()
    } else if let document {
      warn(
        "The device configuration expires at \(UTCTime(unixSecond: document.expires).text) or lacks a signing key: run"
          + " `firebreak key-server device-configuration publish --root-key FILE`.")
    }
  }

  /// The public parts of the keys that are valid now or later.
  private static func publicKeys(
    _ keys: [SecretSigningKey], at now: Date
  ) throws -> [DeviceConfiguration.Key] {
    try keys.filter { $0.validThru ?? .max > now.unixSecond }.map {
      try $0.exportSigner.publicKey()
    }
  }

  /// True if the folder has data of an earlier run. Secrets are stored after the first document.
  private var isInUse: Bool {
    [folder.keySecrets.url, folder.keyDatabase].contains {
      FileManager.default.fileExists(atPath: $0.path)
    }
  }

  /// Throws if the document of an earlier run is missing: phones reject a new one of a lower version, and a new
  /// one has neither the pause nor the withdrawn files.
  private func refuseLost() throws {
    guard isInUse, !FileManager.default.fileExists(atPath: folder.deviceConfiguration.path) else {
      return
    }
    throw CommandFailure.badInput(
      "\(folder.deviceConfiguration.path.printable) is missing: restore it from a backup, or run"
        + " `firebreak key-server device-configuration publish`, then repeat a pause and withdrawals."
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
  private func createRootKey(_ path: String?) throws {
    guard !FileManager.default.fileExists(atPath: folder.rootPublicKey.path) else { return }
    let file = folder.rootPrivateKey.url
    if path == nil, !FileManager.default.fileExists(atPath: file.path) {
      guard !isInUse else {
        throw CommandFailure.badInput(
          "\(folder.rootPublicKey.path.printable) and \(file.path.printable) are missing: restore one of"
            + " them from a backup.")
      }
      try write(Data(RootPrivateKey().privateKeyPEM.utf8), to: file, permissions: 0o600)
    }
    let root = try privateRootKey(path, isNew: true).rootKey
    _ = try current(signedBy: root)
    try write(Data(root.publicKeyPEM.utf8), to: folder.rootPublicKey)
  }

  private func privateRootKey(_ path: String?, isNew: Bool = false) throws -> RootPrivateKey {
    let file = path.map { PrivateFile(URL(fileURLWithPath: $0)) } ?? folder.rootPrivateKey
    guard path != nil || FileManager.default.fileExists(atPath: file.url.path) else {
      throw CommandFailure.badInput(
        "The root key is not in \(file.url.path.printable): name its file with --root-key.")
    }
    let text = try file.secret(named: "--root-key")
    let key = P256KeyFile(Data(text.utf8), subject: "--root-key: \(file.url.path.printable)")
    let root = try RootPrivateKey(privateKeyPEM: key.privateKeyPEM())
    guard try isNew || root.rootKey.fingerprint == publicRootKey().fingerprint else {
      throw CommandFailure.badInput(
        "--root-key: \(file.url.path.printable) does not belong to"
          + " \(folder.rootPublicKey.path.printable), which phones trust.")
    }
    return root
  }

  private func write(_ data: Data, to url: URL, permissions: mode_t = 0o644) throws {
    do {
      try AtomicFile.write(data, to: url, permissions: permissions)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        message: "\(url.path.printable) could not be written: check the disk, then retry.")
    }
  }
}

/// The device configuration that a running server serves. It is read again if its file has changed, and signed again
/// before it expires if the private root key exists. After a failure the previous document stays in use.
final class ServedDeviceConfiguration: Sendable {
  /// The time in seconds between two attempts to sign the document again, and between two warnings.
  static let attemptSeconds = 3_600.0

  private struct Cached {
    let identity: [Int]
    let data: Data
    let renewal: Date
  }

  private let files: DeviceConfigurationFiles
  private let cached = Mutex<Cached?>(nil)
  private let renewed = Mutex(Date.distantPast)
  private let warned = Mutex(Date.distantPast)

  init(_ files: DeviceConfigurationFiles) {
    self.files = files
  }

  /// - Throws: If the file cannot be read and no earlier read succeeded.
  func data() throws -> Data {
    let current = try newest()
    guard current.renewal <= files.clock.now, isDue(renewed) else { return current.data }
    let secrets = files.folder.keySecrets
    do {
      try secrets.withLock {
        try files.prepare(try secrets.read(KeySecrets.self)?.signingKeys ?? [])
      }
    } catch {
      files.warn("The device configuration was not signed again: \(error)")
    }
    return try newest().data
  }

  /// The document in the file, or the previous one if the file cannot be read.
  private func newest() throws -> Cached {
    do {
      return try read()
    } catch {
      guard let cached = cached.withLock({ $0 }) else { throw error }
      if isDue(warned) {
        files.warn("The previous device configuration is served: \(error)")
      }
      return cached
    }
  }

  /// Returns `true` at most once per `attemptSeconds`.
  private func isDue(_ last: borrowing Mutex<Date>) -> Bool {
    let now = files.clock.now
    return last.withLock { last in
      guard abs(now.timeIntervalSince(last)) >= Self.attemptSeconds else { return false }
      last = now
      return true
    }
  }

  private func read() throws -> Cached {
    let file = files.folder.deviceConfiguration
    var facts = stat()
    guard stat(file.path, &facts) == 0 else {
      throw CommandFailure.badInput(
        "\(file.path.printable) is missing: restore it from a backup.")
    }
    let identity = [
      Int(facts.st_ino), Int(facts.st_mtim.tv_sec), facts.st_mtim.tv_nsec, Int(facts.st_size),
    ]
    if let cached = cached.withLock({ $0 }), cached.identity == identity { return cached }
    let data = try Data(contentsOf: file)
    let renewal = try files.existing().renewal
    let read = Cached(
      identity: identity, data: data, renewal: Date(unixSecond: renewal))
    cached.withLock { $0 = read }
    return read
  }
}

extension DeviceConfiguration {
  /// The time from which a server with the private root key signs again: half of the document's validity.
  var renewal: Int64 { issued + (expires - issued) / 2 }
}
