// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import SealedStorage
import TextEncodings
import World

/// The folder of one phone. A new one can be read by its owner only.
package struct PhoneFolder: Sendable {
  /// The folder.
  package let url: URL

  /// The folder at `path`, which is created if it is missing, for its owner only.
  ///
  /// - Throws: `PhoneSetupError` if it cannot be created, belongs to another user, or others can change it.
  package init(creating path: String) throws(PhoneSetupError) {
    url = URL(fileURLWithPath: path)
    try requireNotMoved()
    for folder in [url, framework, app] {
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw .folder(folder.path, "cannot be created: check its permissions, or name another")
      }
    }
    try requirePrivacy()
  }

  /// The existing folder at `path`.
  ///
  /// - Parameter mayBeMoved: True for a folder whose phone may have been moved.
  /// - Throws: `PhoneSetupError` if there is none, its phone was moved, it belongs to another user, or others can
  ///   change it.
  package init(existing path: String, mayBeMoved: Bool = false) throws(PhoneSetupError) {
    url = URL(fileURLWithPath: path)
    var facts = stat()
    let exists = stat(url.path, &facts) == 0
    guard !exists || facts.st_mode & S_IFMT == S_IFDIR else {
      throw .folder(path, "is not a folder but a file: name that of the phone with --data")
    }
    guard exists else {
      throw .folder(
        path,
        "does not exist: name the folder of the phone with --data, or make one with --create-key")
    }
    if !mayBeMoved { try requireNotMoved() }
    try requirePrivacy()
  }

  /// The framework's files: own keys, received identifiers, consent, matches.
  package var framework: URL { url.appendingPathComponent("framework") }
  /// The app's files: state and downloaded key files.
  package var app: URL { url.appendingPathComponent("app") }
  /// The notices that are shown, and those of the last days.
  package var notices: URL { url.appendingPathComponent("notices.sealed") }
  /// The choices of the owner for the user interface.
  package var preferences: URL { url.appendingPathComponent("preferences.sealed") }
  /// The record of sent requests and beacons.
  package var messages: URL { url.appendingPathComponent("messages.sealed") }
  /// The statistics of the health authority, and the followed districts.
  package var statistics: URL { url.appendingPathComponent("statistics.sealed") }
  /// The stays in other regions.
  package var travel: URL { url.appendingPathComponent("travel.sealed") }

  /// True if a phone has stored anything, so that a new key could not decrypt it.
  package var hasData: Bool {
    [framework, app].contains { !FileManager.default.names(in: $0).isEmpty }
  }

  /// Takes the folder for this process; `nil` if another process has it.
  ///
  /// - Parameter mayBeMoved: True for a folder whose phone may have been moved.
  /// - Throws: `PhoneSetupError` if the folder cannot be opened, or its phone was moved while others waited for it.
  package func lock(mayBeMoved: Bool = false) throws(PhoneSetupError) -> HeldFolderLock? {
    let lock: HeldFolderLock?
    do {
      lock = try FolderLock.hold(on: url)
    } catch {
      throw .folder(url.path, "cannot be opened: check its permissions")
    }
    if !mayBeMoved { try requireNotMoved() }
    return lock
  }

  private func requireNotMoved() throws(PhoneSetupError) {
    if let moved = try MovedMark(in: url) { throw moved.error(of: url) }
  }

  /// True if there is a folder at `url`.
  static func isFolder(_ url: URL) -> Bool {
    var facts = stat()
    return stat(url.path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  private func requirePrivacy() throws(PhoneSetupError) {
    var facts = stat()
    guard stat(url.path, &facts) == 0 else {
      throw .folder(url.path, "cannot be read: check its permissions")
    }
    guard facts.st_uid == geteuid() else {
      throw .folder(url.path, "belongs to another user: name a folder of your own")
    }
    guard facts.st_mode & 0o022 == 0 else {
      throw .folder(url.path, "can be changed by other users: chmod 700 it")
    }
  }
}

/// An encrypted JSON file of the phone itself. A damaged one is set aside and reported for fourteen days.
struct PhoneFile<Content: Codable>: Sendable {
  private let file: SealedFile
  private let url: URL
  private let clock: any WallClock
  private let logger: Logger

  init(
    at url: URL, key: SealingKey, purpose: String, clock: any WallClock,
    randomness: any Randomness, logger: Logger
  ) {
    file = SealedFile(url: url, key: key, purpose: purpose, randomness: randomness)
    self.url = url
    self.clock = clock
    self.logger = logger
  }

  /// The content; `nil` if there is none. A damaged file is set aside, and then there is none.
  ///
  /// - Throws: `SealedStorageError` if the disk cannot be read.
  func read() throws(SealedStorageError) -> Content? {
    do throws(SealedStorageError) {
      guard let bytes = try file.read() else { return nil }
      guard let content = JSONDecoder().decodeIfValid(Content.self, from: bytes) else {
        throw .damaged
      }
      return content
    } catch {
      guard error == .damaged else { throw error }
      logger.warning("\(url.lastPathComponent) is damaged; it is set aside")
      // The time is stored first: after a crash in between, the damage is detected again. If it cannot be stored, the
      // damage has the time of the last change.
      try? FileManager.default.setAttributes([.modificationDate: clock.now], ofItemAtPath: url.path)
      try file.setAside()
      return nil
    }
  }

  /// Replaces the content.
  ///
  /// - Throws: `SealedStorageError` if it cannot be stored; then the old content is unchanged.
  func replace(with content: Content) throws {
    try file.replace(with: JSONEncoder().encode(content))
  }

  /// Removes the file, also a damaged one that was set aside.
  func remove() throws(SealedStorageError) {
    try file.remove()
  }

  /// The time at which a damaged file was set aside, in whole seconds; `nil` if none is left. Reads the file first.
  func damageFound() -> Date? {
    // Reading sets a damaged file aside. A disk error is not damage.
    _ = try? read()
    let attributes = FileManager.default.attributes(of: file.aside)
    guard let found = attributes?[.modificationDate] as? Date else { return nil }
    guard clock.now.timeIntervalSince(found) < TravelLimit.retentionSeconds else {
      FileManager.default.removeUnneeded(file.aside)
      return nil
    }
    return Date(unixSecond: found.unixSecond)
  }
}

/// A file with the 32 bytes of a phone's sealing key, outside the phone's folder: a copy of the folder alone can then
/// not be decrypted.
package struct SealingKeyFile: Hashable, Sendable {
  /// The origin of the file, which decides the permissions that it must have.
  package enum Origin: Hashable, Sendable {
    /// A file of the owner, which other users must not be able to read.
    case file
    /// A credential of systemd, whose folder only the unit can read.
    case credential
  }

  private let url: URL
  private let origin: Origin

  /// The path of the file.
  package var path: String { url.path }

  /// The file at `path`; nothing is read yet.
  package init(at path: String, origin: Origin = .file) {
    url = URL(fileURLWithPath: path)
    self.origin = origin
  }

  /// Reads the key.
  ///
  /// - Throws: `PhoneSetupError` if the file is missing, is no key, can be read by other users, or is in `folder`.
  package func read(for folder: PhoneFolder) throws(PhoneSetupError) -> SealingKey {
    try requireOutside(folder)
    // Opening a pipe without O_NONBLOCK waits for a writer.
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw fault(
        errno == ENOENT
          ? "does not exist: make it with --create-key, or check the path"
          : "cannot be read: check its permissions")
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw fault("is not a regular file: replace it")
    }
    // systemd grants a unit's user access with an access list, which shows as rights of the group.
    let forbidden: mode_t = origin == .file ? 0o077 : 0o007
    guard facts.st_mode & forbidden == 0 else {
      throw fault("can be read by other users: chmod 600 it")
    }
    var bytes = [UInt8](repeating: 0, count: SealingKey.byteCount + 1)
    defer {
      bytes.withUnsafeMutableBytes { bytes in
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
      }
    }
    let count = bytes.withUnsafeMutableBytes {
      Foundation.read(descriptor, $0.baseAddress, $0.count)
    }
    guard count == SealingKey.byteCount, let key = SealingKey(bytes: bytes[..<count]) else {
      throw fault("must hold exactly \(SealingKey.byteCount) bytes: restore it from a backup")
    }
    return key
  }

  /// Creates the file with a new key, unless it exists.
  ///
  /// - Throws: `PhoneSetupError` if the folder has data of an older key, or the file cannot be written.
  package func create(
    for folder: PhoneFolder, randomness: any Randomness
  ) throws(PhoneSetupError) {
    try requireOutside(folder)
    guard !FileManager.default.fileExists(atPath: url.path) else { return }
    guard !folder.hasData else {
      throw fault("is missing, and a new key cannot decrypt the data of the phone: restore it")
    }
    do {
      try AtomicFile.write(
        randomness.bytes(SealingKey.byteCount), to: url, permissions: 0o600, existing: .keep)
    } catch {
      guard error.code == EEXIST else {
        throw fault("cannot be created: check its folder and the disk")
      }
    }
  }

  /// Links are followed, so that a link in another place does not hide that the key is beside the data.
  private func requireOutside(_ folder: PhoneFolder) throws(PhoneSetupError) {
    let place = url.deletingLastPathComponent().resolvingSymlinksInPath().path + "/"
    let target = url.resolvingSymlinksInPath().path
    let inside = folder.url.resolvingSymlinksInPath().path + "/"
    guard !place.hasPrefix(inside), !target.hasPrefix(inside) else {
      throw fault("is inside the folder of the phone, so a copy of the folder has both: move it")
    }
  }

  private func fault(_ text: String) -> PhoneSetupError { .sealingKey(url.path, text) }
}

/// The reason why a phone cannot be set up; the owner has to change something.
package enum PhoneSetupError: Error, Hashable, Sendable {
  /// The folder at this path; the fault and the advice.
  case folder(String, String)
  /// The file of the sealing key at this path; the fault and the advice.
  case sealingKey(String, String)
  /// No file of a sealing key was named.
  case noSealingKey
}

extension PhoneSetupError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .folder(let path, let fault): "The folder \(path) \(fault)."
    case .sealingKey(let path, let fault): "The sealing key \(path) \(fault)."
    case .noSealingKey:
      "The phone has no sealing key: name its file with --key-file, or make one with --create-key PATH."
    }
  }
}
