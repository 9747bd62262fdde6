// SPDX-License-Identifier: Apache-2.0
import Foundation
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
    guard Self.isFolder(url) else {
      throw .folder(
        path,
        FileManager.default.fileExists(atPath: url.path)
          ? "is not a folder but a file: name that of the phone with --data"
          : "does not exist: name the folder of the phone with --data, or make one with --create-key"
      )
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
  /// The copy of another web app's pages while the phone runs with `--as-file`.
  package var pageCopy: URL { url.appendingPathComponent(Self.pageCopyName) }

  /// The name of the folder of the copy.
  static let pageCopyName = "pages-as-files"

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
