import Foundation

/// The few system calls that make a write whole: all of it or nothing, and on the disk when it returns.
enum Disk {
  /// Replaces `url` by `content`: a temporary name, sync, rename, sync of the folder.
  static func replace(_ url: URL, with content: Data) throws(SealedStorageError) {
    let temporary = url.appendingPathExtension("new")
    do throws(SealedStorageError) {
      let file = try open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
      defer { close(file) }
      try write(content, to: file)
      guard fsync(file) == 0 else { throw failure() }
    } catch {
      unlink(temporary.path)
      throw error
    }
    guard rename(temporary.path, url.path) == 0 else { throw failure() }
    try syncFolder(of: url)
  }

  /// Adds `content` to the end of `url`; where that fails the file keeps its old length.
  static func append(_ content: Data, to url: URL) throws(SealedStorageError) {
    let file = try open(url, O_WRONLY | O_CREAT | O_APPEND)
    defer { close(file) }
    let end = lseek(file, 0, SEEK_END)
    do throws(SealedStorageError) {
      try write(content, to: file)
      guard fsync(file) == 0 else { throw failure() }
    } catch {
      ftruncate(file, end)
      throw error
    }
  }

  /// Cuts `url` to `length` bytes.
  static func truncate(_ url: URL, to length: Int) throws(SealedStorageError) {
    guard Foundation.truncate(url.path, length) == 0 else { throw failure() }
  }

  /// The content of `url`, or nil where there is no such file.
  static func read(_ url: URL) throws(SealedStorageError) -> Data? {
    let file: Int32
    do throws(SealedStorageError) {
      file = try open(url, O_RDONLY)
    } catch .disk(ENOENT) {
      return nil
    }
    defer { close(file) }
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(file, &buffer, buffer.count)
      guard count >= 0 else { throw failure() }
      guard count > 0 else { return content }
      content.append(contentsOf: buffer.prefix(count))
    }
  }

  /// Removes `url`; that it was not there is no error.
  static func remove(_ url: URL) throws(SealedStorageError) {
    guard unlink(url.path) == 0 || errno == ENOENT else { throw failure() }
  }

  /// Makes the folder `url`, for its owner only.
  static func makeFolder(_ url: URL) throws(SealedStorageError) {
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw .disk(errno)
    }
  }

  private static func open(_ url: URL, _ flags: Int32) throws(SealedStorageError) -> Int32 {
    let file = Foundation.open(url.path, flags | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure() }
    return file
  }

  private static func write(_ content: Data, to file: Int32) throws(SealedStorageError) {
    var rest = Array(content)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw failure() }
      rest = rest.dropFirst(count)
    }
  }

  private static func syncFolder(of url: URL) throws(SealedStorageError) {
    let folder = try open(url.deletingLastPathComponent(), O_RDONLY | O_DIRECTORY)
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw failure() }
  }

  private static func failure() -> SealedStorageError {
    [ENOSPC, EDQUOT, EFBIG].contains(errno) ? .full : .disk(errno)
  }
}
