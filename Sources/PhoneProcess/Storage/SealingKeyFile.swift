// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import Secrets
import World

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
    defer { bytes.zero() }
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
