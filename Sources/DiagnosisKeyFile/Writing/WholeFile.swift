import Foundation

/// A file that appears whole or not at all, and is on the disk once it has appeared.
enum WholeFile {
  /// Lets `fill` write a new file beside `url`, and gives it that name once it is on the disk.
  static func write<Result>(
    to url: URL, _ fill: (_ descriptor: Int32) throws -> Result
  ) throws -> Result {
    try write(to: url, begun: { _ in }, fill)
  }

  /// The same; `begun` is told the name that the file has until then.
  static func write<Result>(
    to url: URL, begun: (_ unfinished: URL) -> Void,
    _ fill: (_ descriptor: Int32) throws -> Result
  ) throws -> Result {
    let folder = url.deletingLastPathComponent()
    let pattern = folder.appendingPathComponent(".\(url.lastPathComponent)-XXXXXX")
    var name = Array(pattern.path.utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw KeyFileError(writing: errno) }
    defer { close(descriptor) }
    begun(
      URL(
        fileURLWithPath: String(
          decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)))
    let result: Result
    do {
      result = try fill(descriptor)
      // A key file is public, and a web server of another user may have to read it.
      try check(fchmod(descriptor, 0o644))
      try check(fsync(descriptor))
      try check(rename(name, url.path))
    } catch {
      unlink(name)
      throw error
    }
    try sync(folder)
    return result
  }

  private static func sync(_ folder: URL) throws(KeyFileError) {
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw KeyFileError(writing: errno) }
    defer { close(descriptor) }
    try check(fsync(descriptor))
  }

  private static func check(_ result: Int32) throws(KeyFileError) {
    guard result == 0 else { throw KeyFileError(writing: errno) }
  }
}

extension KeyFileError {
  /// What a failed write means.
  init(writing code: Int32) {
    self = [ENOSPC, EDQUOT, EFBIG].contains(code) ? .diskFull : .cannotWrite(code)
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` for a body that throws only this room's error.
  func withRawBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(KeyFileError) -> Result
  ) throws(KeyFileError) -> Result {
    try withUnsafeBufferPointer { bytes throws(KeyFileError) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}
