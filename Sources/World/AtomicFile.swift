// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Replaces files so that a reader, a crash or a power failure sees either the old content or the new.
///
/// The content goes to a temporary file in the same folder, is synced, gets its final name, and then
/// the folder is synced. If a step fails, the temporary file is removed and the old file is unchanged.
/// Only a failure to sync the folder comes after the replacement. Devices, pipes and sockets are not replaced.
///
/// ```swift
/// try AtomicFile.write(Array("hello\n".utf8), to: url)
/// try AtomicFile.write(to: url, permissions: 0o644) { descriptor in
///   try FileHandle(fileDescriptor: descriptor).write(contentsOf: data)
/// }
/// ```
package enum AtomicFile {
  /// The treatment of an existing file with the final name.
  package enum Existing: Sendable {
    /// It is replaced.
    case replace
    /// The write throws `FileError` with `EEXIST`, and the existing file stays as it is.
    case keep
  }

  /// The effect of a power failure after the write.
  package enum Durability: Sendable {
    /// None: the content and the name are on the disk when the write returns.
    case synced
    /// The write may be undone. On some file systems the file is then empty.
    case unsynced
  }

  /// Writes `bytes` to `url`.
  package static func write(
    _ bytes: some Sequence<UInt8>, to url: URL, permissions: mode_t = 0o600,
    existing: Existing = .replace, durability: Durability = .synced
  ) throws(FileError) {
    let bytes = Array(bytes)
    try write(
      to: url, permissions: permissions, existing: existing, durability: durability,
      mapError: { $0 }
    ) { descriptor throws(FileError) in
      try append(bytes, to: descriptor, at: url)
    }
  }

  /// Lets `fill` write the content through a file descriptor, which `write` closes.
  ///
  /// - Parameter create: Called with a function that creates the temporary file and returns its URL. A caller whose
  ///   signal handler removes the file calls the function under a lock, at most once. If it does not call the function,
  ///   nothing is written and the error is `ECANCELED`.
  /// - Throws: The error of `fill`, or a `FileError`.
  package static func write<Result>(
    to url: URL, permissions: mode_t = 0o600, existing: Existing = .replace,
    create: Creation = { _ = $0() }, fill: (_ descriptor: Int32) throws -> Result
  ) throws -> Result {
    try write(
      to: url, permissions: permissions, existing: existing, create: create,
      mapError: { $0 as any Error }, fill: fill)
  }

  /// The same with a typed error: `mapError` turns a failed system call into the caller's error type.
  package static func write<Result, Failure: Error>(
    to url: URL, permissions: mode_t = 0o600, existing: Existing = .replace,
    durability: Durability = .synced, create: Creation = { _ = $0() },
    mapError: (FileError) -> Failure,
    fill: (_ descriptor: Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let folder = url.deletingLastPathComponent()
    let name = temporaryPrefix(for: url) + "XXXXXX"
    // Foundation would look into the folder to learn if this is a folder.
    let place = folder.appendingPathComponent(name, isDirectory: false)
    var template = Array(place.path.utf8CString)
    var descriptor: Int32 = -1
    var temporary = url
    errno = ECANCELED
    create {
      descriptor = mkstemp(&template)
      guard descriptor >= 0 else { return nil }
      let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      temporary = URL(fileURLWithPath: path, isDirectory: false)
      return temporary
    }
    guard descriptor >= 0 else { throw mapError(FileError(.create, url)) }
    var isMoved = false
    defer {
      close(descriptor)
      if !isMoved { unlink(temporary.path) }
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let result = try fill(descriptor)
    do throws(FileError) {
      guard fchmod(descriptor, permissions) == 0 else { throw FileError(.setPermissions, url) }
      if durability == .synced { try sync(descriptor, at: url) }
      try move(temporary, to: url, existing: existing)
      // A link leaves the temporary name.
      isMoved = existing == .replace
      if durability == .synced { try sync(folder) }
    } catch {
      throw mapError(error)
    }
    return result
  }

  /// Calls `create`, which creates a temporary file and returns its URL; `nil` if that failed.
  package typealias Creation = (_ create: () -> URL?) -> Void

  /// Gives a complete file its final name; both must be in the same folder.
  ///
  /// The file and the folder are synced.
  package static func publish(
    _ unfinished: URL, as url: URL, existing: Existing = .replace
  ) throws(FileError) {
    try sync(unfinished)
    try move(unfinished, to: url, existing: existing)
    try sync(url.deletingLastPathComponent())
    if case .keep = existing { unlink(unfinished.path) }
  }

  /// Syncs the content of a file, or the names in a folder.
  package static func sync(_ url: URL) throws(FileError) {
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(.open, url) }
    defer { close(descriptor) }
    try sync(descriptor, at: url)
  }

  /// Creates the folder `url` and its missing parents, with access for the owner only.
  ///
  /// The name of each new folder is on the disk when this returns. An existing folder stays as it is; for another file
  /// with this name the error is `ENOTDIR`.
  package static func makeFolder(_ url: URL) throws(FileError) {
    if mkdir(url.path, 0o700) == 0 { return try sync(url.deletingLastPathComponent()) }
    if errno == EEXIST { return try requireFolder(url) }
    guard errno == ENOENT else { throw FileError(.create, url) }
    let parent = url.deletingLastPathComponent()
    guard parent.pathComponents.count < url.pathComponents.count else {
      // The root, or `..` at the end, which gets another one.
      errno = ENOENT
      throw FileError(.create, url)
    }
    try makeFolder(parent)
    guard mkdir(url.path, 0o700) == 0 || errno == EEXIST else { throw FileError(.create, url) }
    try sync(parent)
  }

  private static func requireFolder(_ url: URL) throws(FileError) {
    var facts = stat()
    guard stat(url.path, &facts) == 0 else { throw FileError(.create, url) }
    guard facts.st_mode & S_IFMT != S_IFDIR else { return }
    errno = ENOTDIR
    throw FileError(.create, url)
  }

  /// Returns `true` for the name of a temporary file, which a crash may leave behind.
  package static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(".") && name.contains(temporaryMark)
  }

  /// Returns `true` for the name of a temporary file of a write to `url`.
  package static func isTemporary(_ name: String, for url: URL) -> Bool {
    name.hasPrefix(temporaryPrefix(for: url))
  }

  private static let temporaryMark = ".unfinished-"

  private static func temporaryPrefix(for url: URL) -> String {
    ".\(url.lastPathComponent)\(temporaryMark)"
  }

  /// Returns `false` for devices, pipes and sockets, and for links to them such as `/dev/stdout`, which root would
  /// otherwise replace for the whole system.
  package static func isReplaceable(_ url: URL) -> Bool {
    var facts = stat()
    guard lstat(url.path, &facts) == 0 else { return true }
    guard facts.st_mode & S_IFMT == S_IFLNK else { return isFileOrFolder(facts) }
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = max(readlink(url.path, &target, target.count), 0)
    // The descriptors of a process are regular files if its output is redirected to one.
    guard !target.prefix(count).starts(with: "/proc/".utf8) else { return false }
    // A link to nothing is replaced, as one to a file is.
    return stat(url.path, &facts) != 0 || isFileOrFolder(facts)
  }

  /// The rename reports folders itself.
  private static func isFileOrFolder(_ facts: stat) -> Bool {
    [S_IFREG, S_IFDIR].contains(facts.st_mode & S_IFMT)
  }

  /// A rename replaces an existing file; a link fails if there is one.
  private static func move(
    _ file: URL, to url: URL, existing: Existing
  ) throws(FileError) {
    if existing == .replace, !isReplaceable(url) {
      errno = EINVAL
      throw FileError(.rename, url)
    }
    let status =
      switch existing {
      case .replace: rename(file.path, url.path)
      case .keep: link(file.path, url.path)
      }
    guard status == 0 else { throw FileError(.rename, url) }
  }

  /// Syncs an open file or folder.
  package static func sync(_ descriptor: Int32, at url: URL) throws(FileError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw FileError(.sync, url) }
    }
  }

  /// Writes all of `bytes` to an open file; `url` is its name in the error.
  package static func append(
    _ bytes: [UInt8], to descriptor: Int32, at url: URL
  ) throws(FileError) {
    try bytes.withUnsafeBufferPointer { buffer throws(FileError) in
      try append(UnsafeRawBufferPointer(buffer), to: descriptor, at: url)
    }
  }

  /// Writes all of `bytes` to an open file; `url` is its name in the error.
  package static func append(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at url: URL
  ) throws(FileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(descriptor, part.baseAddress, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileError(.write, url) }
      rest = rest.dropFirst(count)
    }
  }
}
