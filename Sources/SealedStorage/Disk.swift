// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The system calls of sealed storage, with errors as `SealedStorageError`.
enum Disk {
  /// Replaces `url` by `content` atomically.
  ///
  /// If it throws, the old content is unchanged, except if only the folder could not be synced.
  static func replace(
    _ url: URL, with content: Data, durability: AtomicFile.Durability = .synced
  ) throws(SealedStorageError) {
    try inWorld { () throws(FileError) in
      try AtomicFile.write(content, to: url, durability: durability)
    }
  }

  /// Removes the temporary files that a power failure during `replace` of `url` left behind.
  static func removeLeftovers(of url: URL) throws(SealedStorageError) {
    let folder = url.deletingLastPathComponent()
    for name in try names(in: folder) where AtomicFile.isTemporary(name, for: url) {
      try remove(folder.appendingPathComponent(name))
    }
  }

  /// Appends `content` to `url`; if that fails, the file keeps its old length.
  static func append(_ content: Data, to url: URL) throws(SealedStorageError) {
    let file = try open(url, O_WRONLY | O_CREAT | O_APPEND)
    defer { close(file) }
    let end = lseek(file, 0, SEEK_END)
    do throws(SealedStorageError) {
      try inWorld { () throws(FileError) in
        try Array(content).withUnsafeBufferPointer { buffer throws(FileError) in
          try AtomicFile.append(UnsafeRawBufferPointer(buffer), to: file, at: url)
        }
        try AtomicFile.sync(file, at: url)
        // The name of a new file is stored in the folder.
        if end == 0 { try AtomicFile.sync(url.deletingLastPathComponent()) }
      }
    } catch {
      ftruncate(file, end)
      throw error
    }
  }

  static func truncate(_ url: URL, to length: Int) throws(SealedStorageError) {
    guard Foundation.truncate(url.path, length) == 0 else { throw failure() }
  }

  /// The content of `url`, or nil if there is no such file.
  ///
  /// - Throws: `.tooLarge` if it is longer than `bytesMax`.
  static func read(_ url: URL, bytesMax: Int) throws(SealedStorageError) -> Data? {
    let file: Int32
    do throws(SealedStorageError) {
      file = try open(url, O_RDONLY)
    } catch .disk(ENOENT) {
      return nil
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure() }
    guard Int(status.st_size) <= bytesMax else { throw .tooLarge }
    // The size of a file; other things have none.
    if status.st_size > 0 { return try read(file, byteCount: Int(status.st_size)) }
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = retryingOnInterrupt { Foundation.read(file, &buffer, buffer.count) }
      guard count >= 0 else { throw failure() }
      guard count > 0 else { return content }
      content.append(contentsOf: buffer.prefix(count))
      guard content.count <= bytesMax else { throw .tooLarge }
    }
  }

  /// Reads `byteCount` bytes, or fewer if the file has become shorter.
  private static func read(_ file: Int32, byteCount: Int) throws(SealedStorageError) -> Data {
    var content = Data(count: byteCount)
    var done = 0
    while done < byteCount {
      let count = retryingOnInterrupt {
        content.withUnsafeMutableBytes {
          Foundation.read(file, $0.baseAddress?.advanced(by: done), byteCount - done)
        }
      }
      guard count >= 0 else { throw failure() }
      guard count > 0 else { return content.prefix(done) }
      done += count
    }
    return content
  }

  /// The size of `url` in bytes, 0 if it does not exist.
  static func size(of url: URL) throws(SealedStorageError) -> Int {
    var status = stat()
    if stat(url.path, &status) == 0 { return Int(status.st_size) }
    guard errno == ENOENT else { throw failure() }
    return 0
  }

  /// Returns `true` if there is a file at `url`.
  static func exists(_ url: URL) throws(SealedStorageError) -> Bool {
    var status = stat()
    if stat(url.path, &status) == 0 { return true }
    guard errno == ENOENT else { throw failure() }
    return false
  }

  /// The names in the folder `url`; none if it does not exist.
  static func names(in url: URL) throws(SealedStorageError) -> [String] {
    guard let folder = opendir(url.path) else {
      guard errno == ENOENT else { throw failure() }
      return []
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
        })
    }
    return names
  }

  /// Removes `url` if it exists. When this returns, it does not come back after a power failure.
  static func remove(_ url: URL) throws(SealedStorageError) {
    if unlink(url.path) == 0 { return try syncFolder(of: url) }
    guard errno == ENOENT else { throw failure() }
  }

  /// Renames `url` within its folder.
  static func move(_ url: URL, to other: URL) throws(SealedStorageError) {
    guard rename(url.path, other.path) == 0 else { throw failure() }
    try syncFolder(of: url)
  }

  /// Adds a second name in the same folder, and replaces an existing file of that name.
  static func link(_ url: URL, as other: URL) throws(SealedStorageError) {
    try remove(other)
    guard Foundation.link(url.path, other.path) == 0 else { throw failure() }
    try syncFolder(of: other)
  }

  /// Returns `true` if both names are of one file.
  static func isSameFile(_ url: URL, _ other: URL) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(url.path, &first) == 0 && stat(other.path, &second) == 0
      && first.st_ino == second.st_ino && first.st_dev == second.st_dev
  }

  /// Creates the folder `url` and its missing parents, with access for the owner only.
  static func makeFolder(_ url: URL) throws(SealedStorageError) {
    try inWorld { () throws(FileError) in try AtomicFile.makeFolder(url) }
  }

  private static func open(_ url: URL, _ flags: Int32) throws(SealedStorageError) -> Int32 {
    let file = Foundation.open(url.path, flags | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure() }
    return file
  }

  private static func syncFolder(of url: URL) throws(SealedStorageError) {
    try inWorld { () throws(FileError) in try AtomicFile.sync(url.deletingLastPathComponent()) }
  }

  /// Runs `work` of the module World, with its errors as `SealedStorageError`.
  private static func inWorld(
    _ work: () throws(FileError) -> Void
  ) throws(SealedStorageError) {
    do throws(FileError) {
      try work()
    } catch {
      throw failure(error.code)
    }
  }

  /// Repeats a system call that a signal interrupted.
  private static func retryingOnInterrupt(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }

  private static func failure(_ code: Int32 = errno) -> SealedStorageError {
    FileError.isDiskFull(code) ? .full : .disk(code)
  }
}
