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
  /// The mark of an earlier attempt.
  private let earlier: MovedMark?

  /// A move of the phone in `old`, whose lock the caller holds, to the folder at `path`.
  ///
  /// - Throws: `PhoneSetupError` if there is no phone, it was moved elsewhere, or the folder is used or cannot be.
  package init(of old: PhoneFolder, to path: String) throws(PhoneSetupError) {
    self.old = old
    new = URL(fileURLWithPath: path).standardizedFileURL
    earlier = try MovedMark(in: old.url)
    if let earlier, earlier.target != new.path { throw earlier.error(of: old.url) }
    guard old.hasData || earlier != nil else {
      throw .folder(old.url.path, "has no phone: name that of the phone with --data")
    }
    try requireApart()
    try requirePlainFolder()
    guard isUnused || earlier != nil else {
      throw .folder(path, "is not empty: name a new one")
    }
  }

  /// Moves the phone.
  ///
  /// - Throws: `PhoneSetupError` if the copy cannot be written; then the phone still works in its old folder. If only
  ///   the old data cannot be removed, the phone works in the new one, and the same move again removes the rest.
  package func run() throws(PhoneSetupError) {
    do {
      // A phone that has its new folder is never copied again: the old data may be removed in part.
      if earlier?.isDone == true {
        guard !isUnused else {
          throw PhoneSetupError.folder(
            new.path, "is missing, although the phone was moved there: connect its disk")
        }
      } else {
        if isUnused { try copy() }
        try MovedMark(target: new.path, isDone: true).leave(in: old.url)
      }
      try removeOldData()
    } catch let error as PhoneSetupError {
      throw error
    } catch let error as FileError {
      throw .folder(error.path, Self.fault)
    } catch {
      throw .folder("\(old.url.path) or \(new.path)", Self.fault)
    }
  }

  private static let fault = "cannot be written: check its disk and permissions, then move again"

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
      try MovedMark(target: new.path, isDone: false).leave(in: old.url)
      // That of an earlier move away from the new folder.
      try MovedMark.remove(from: new)
      guard rename(copy.path, new.path) == 0 else { throw FileError(.rename, new) }
    } catch {
      // The phone goes on where it is.
      try MovedMark.remove(from: old.url)
      FileManager.default.removeUnneeded(copy)
      throw error
    }
    try AtomicFile.sync(new.deletingLastPathComponent())
  }

  private func copyContent(of folder: URL, to target: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name != MovedMark.fileName && !AtomicFile.isTemporary(name) {
      // The copy has the secret of a start in the old folder, and the next start writes a new one.
      if folder == old.url, name == PhoneFolder.pageCopyName { continue }
      let (source, place) = (
        folder.appendingPathComponent(name), target.appendingPathComponent(name)
      )
      let attributes = try FileManager.default.attributesOfItem(atPath: source.path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory?:
        try AtomicFile.makeFolder(place)
        try copyContent(of: source, to: place)
      case .typeRegular?: try copyFile(source, to: place, attributes)
      case .typeSocket?: continue
      default:
        throw PhoneSetupError.folder(
          folder.path, "has \(name), which is no file: replace a link by its file, then move again")
      }
    }
  }

  private func copyFile(
    _ source: URL, to place: URL, _ attributes: [FileAttributeKey: Any]
  ) throws {
    let rights = (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0o600
    try AtomicFile.write(try Data(contentsOf: source), to: place, permissions: mode_t(rights))
    // A damaged file that was set aside has the time at which it was found.
    if let changed = attributes[.modificationDate] {
      try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: place.path)
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

  /// True if the new folder is missing, or has nothing but the mark of a phone that was moved away from it.
  private var isUnused: Bool {
    FileManager.default.names(in: new).allSatisfy { $0 == MovedMark.fileName }
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

  /// Throws if the new folder could not be replaced by the copy.
  private func requirePlainFolder() throws(PhoneSetupError) {
    var (facts, parent) = (stat(), stat())
    guard lstat(new.path, &facts) == 0 else { return }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      throw .folder(new.path, "is a file or a link: name a new folder")
    }
    guard stat(new.deletingLastPathComponent().path, &parent) == 0, facts.st_dev == parent.st_dev
    else { throw .folder(new.path, "is the root of a disk: name a new folder on it") }
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
  private static let done = "done"

  /// The path of the new folder.
  let target: String
  /// True once the new folder has all data.
  let isDone: Bool

  init(target: String, isDone: Bool) {
    (self.target, self.isDone) = (target, isDone)
  }

  /// The mark in `folder`; nil if there is none.
  ///
  /// - Throws: `PhoneSetupError` if it cannot be read: without it the phone would exist twice.
  init?(in folder: URL) throws(PhoneSetupError) {
    let file = folder.appendingPathComponent(Self.fileName)
    var facts = stat()
    guard lstat(file.path, &facts) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw Self.unreadable(folder) }
      return nil
    }
    guard let text = FileManager.default.contents(atPath: file.path) else {
      throw Self.unreadable(folder)
    }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    guard let first = lines.first else { throw Self.unreadable(folder) }
    target = String(first)
    isDone = lines.dropFirst().first.map(String.init) == Self.done
  }

  private static func unreadable(_ folder: URL) -> PhoneSetupError {
    .folder(folder.path, "cannot be read: check its permissions and its file \(fileName)")
  }

  /// Stores the mark in `folder`.
  func leave(in folder: URL) throws(FileError) {
    try AtomicFile.write(
      Array("\(target)\n\(isDone ? Self.done : "copied")\n".utf8),
      to: folder.appendingPathComponent(Self.fileName))
  }

  /// Removes the mark from `folder`, if it has one.
  static func remove(from folder: URL) throws(FileError) {
    let file = folder.appendingPathComponent(fileName)
    guard unlink(file.path) == 0 else {
      guard errno == ENOENT else { throw FileError(.write, file) }
      return
    }
    try AtomicFile.sync(folder)
  }

  /// The error of every command on `folder`.
  func error(of folder: URL) -> PhoneSetupError {
    .folder(
      folder.path, "has no phone any more, because it was moved to \(target): name that with --data"
    )
  }
}
