// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// Moves a phone to another folder, after which the old one stops for good: two copies of one phone would send the same
/// identifiers from two places, and share the same keys twice.
///
/// The data is copied, then a mark is left in the old folder, then the copy gets its name, and the old data is removed.
/// After a crash at any point, the same move again finishes it.
package struct PhoneMove {
  private let old: PhoneFolder
  private let new: URL

  /// A move of the phone in `old`, whose lock the caller holds, to the folder at `path`.
  ///
  /// - Throws: `PhoneSetupError` if the phone was moved elsewhere, or the folder is used or cannot be.
  package init(of old: PhoneFolder, to path: String) throws(PhoneSetupError) {
    self.old = old
    new = URL(fileURLWithPath: path).standardizedFileURL
    if let earlier = MovedMark(in: old.url), earlier.target != new.path {
      throw earlier.error(of: old.url)
    }
    try requireApart()
    guard isUnused || MovedMark(in: old.url) != nil else {
      throw .folder(path, "is not empty: name a new one")
    }
  }

  /// Moves the phone.
  ///
  /// - Throws: `PhoneSetupError` if the copy cannot be written; then the phone still works in its old folder.
  package func run() throws(PhoneSetupError) {
    do {
      if isUnused { try copy() }
      try removeOldData()
    } catch let error as FileError {
      throw .folder(
        error.path, "cannot be written: check its disk and permissions, then move again")
    } catch {
      throw .folder(new.path, "cannot be written: check its disk and permissions, then move again")
    }
  }

  private func copy() throws {
    let copy = new.deletingLastPathComponent()
      .appendingPathComponent(".\(new.lastPathComponent)\(Self.unfinishedSuffix)")
    // That of an attempt that was killed.
    if FileManager.default.fileExists(atPath: copy.path) {
      try FileManager.default.removeItem(at: copy)
    }
    do {
      try AtomicFile.makeFolder(copy)
      try copyContent(of: old.url, to: copy)
      try MovedMark(target: new.path).leave(in: old.url)
    } catch {
      FileManager.default.removeUnneeded(copy)
      throw error
    }
    guard rename(copy.path, new.path) == 0 else { throw FileError(.rename, new) }
    try AtomicFile.sync(new.deletingLastPathComponent())
  }

  private func copyContent(of folder: URL, to target: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let (source, place) = (
        folder.appendingPathComponent(name), target.appendingPathComponent(name)
      )
      let attributes = try FileManager.default.attributesOfItem(atPath: source.path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory:
        try AtomicFile.makeFolder(place)
        try copyContent(of: source, to: place)
      case .typeRegular where name != MovedMark.fileName && !AtomicFile.isTemporary(name):
        let rights = (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0o600
        try AtomicFile.write(
          try Data(contentsOf: source), to: place, permissions: mode_t(rights))
        if let changed = attributes[.modificationDate] {
          try FileManager.default.setAttributes(
            [.modificationDate: changed], ofItemAtPath: place.path)
        }
      default:
        // The socket of a running phone, which is not running.
        continue
      }
    }
  }

  private func removeOldData() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: old.url.path)
    where name != MovedMark.fileName {
      try FileManager.default.removeItem(at: old.url.appendingPathComponent(name))
    }
    try AtomicFile.sync(old.url)
  }

  private static let unfinishedSuffix = ".unfinished-move"

  /// True if the new folder is missing or empty.
  private var isUnused: Bool {
    FileManager.default.names(in: new).isEmpty
      && (!FileManager.default.fileExists(atPath: new.path) || PhoneFolder.isFolder(new))
  }

  private func requireApart() throws(PhoneSetupError) {
    let (from, to) = (old.url.resolvingSymlinksInPath().path + "/", resolved.path + "/")
    guard !to.hasPrefix(from), !from.hasPrefix(to) else {
      throw .folder(new.path, "is inside the old one, or around it: name another")
    }
    guard PhoneFolder.isFolder(new.deletingLastPathComponent()) else {
      throw .folder(new.deletingLastPathComponent().path, "does not exist: create it first")
    }
  }

  /// The new folder with links followed; the last component may not exist yet.
  private var resolved: URL {
    new.deletingLastPathComponent().resolvingSymlinksInPath()
      .appendingPathComponent(new.lastPathComponent).resolvingSymlinksInPath()
  }
}

/// The mark in the folder of a phone that was moved.
struct MovedMark {
  static let fileName = "moved-to"

  /// The path of the new folder.
  let target: String

  init(target: String) {
    self.target = target
  }

  /// The mark in `folder`; nil if there is none.
  init?(in folder: URL) {
    let file = folder.appendingPathComponent(Self.fileName)
    guard let text = FileManager.default.contents(atPath: file.path) else { return nil }
    target = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  func leave(in folder: URL) throws(FileError) {
    try AtomicFile.write(
      Array("\(target)\n".utf8), to: folder.appendingPathComponent(Self.fileName))
  }

  /// The error of every command on `folder`.
  func error(of folder: URL) -> PhoneSetupError {
    .folder(
      folder.path, "has no phone any more, because it was moved to \(target): name that with --data"
    )
  }
}
