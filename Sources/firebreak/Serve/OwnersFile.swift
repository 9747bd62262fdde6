import Foundation

/// A file of secrets, as JSON, which its owner alone may read; whole or not there.
struct OwnersFile {
  let url: URL

  /// What the file holds; nil where there is none.
  ///
  /// - Throws: `CommandFailure` where it cannot be read, or is open to others.
  func read<Content: Decodable>(_ type: Content.Type) throws -> Content? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    let rights = try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
    guard let rights = rights as? NSNumber, rights.intValue & 0o077 == 0 else {
      throw CommandFailure.badInput(
        "\(url.path) can be read by others than its owner: chmod 600 it, and change the keys in it."
      )
    }
    do {
      return try JSONDecoder().decode(type, from: Data(contentsOf: url))
    } catch {
      throw CommandFailure.badInput("\(url.path) cannot be read: restore it from a backup.")
    }
  }

  /// What the file holds, or `new`, which it then holds; of two processes that find none, one wins.
  func readOrBegin<Content: Codable>(_ new: () -> Content) throws -> Content {
    if let content = try read(Content.self) { return content }
    try write(new()) { link($0, $1) }
    guard let content = try read(Content.self) else { throw Self.failure(url) }
    return content
  }

  /// Does `work`, which reads the file and replaces it, while no other command does: of two changes neither is lost.
  /// The system takes the right back when the process ends, however it ends.
  ///
  /// - Throws: What `work` throws; `CommandFailure` where the file's folder cannot be opened.
  func changing<Result>(_ work: () throws -> Result) throws -> Result {
    let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw Self.failure(url) }
    defer { close(folder) }
    while flock(folder, LOCK_EX) != 0 {
      guard errno == EINTR else { throw Self.failure(url) }
    }
    return try work()
  }

  /// Replaces what the file holds. Who has read it before, to change it, does both in `changing`.
  func replace(_ content: some Encodable) throws {
    try write(content) { rename($0, $1) }
  }

  private func write(
    _ content: some Encodable, _ name: (_ old: String, _ new: String) -> Int32
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let data = try encoder.encode(content)
    var template = Array((url.path + ".XXXXXX").utf8CString)
    // mkstemp makes it for its owner only.
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Self.failure(url) }
    let unfinished = String(
      decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(unfinished) }
    defer { close(descriptor) }
    do {
      try FileHandle(fileDescriptor: descriptor).write(contentsOf: data)
    } catch {
      throw Self.failure(url)
    }
    guard fsync(descriptor) == 0, name(unfinished, url.path) == 0 || errno == EEXIST,
      Self.syncFolder(of: url)
    else { throw Self.failure(url) }
  }

  /// Without it the file's name may be gone with the power, and with it what only its keys can read.
  private static func syncFolder(of url: URL) -> Bool {
    let folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return fsync(folder) == 0
  }

  private static func failure(_ url: URL) -> CommandFailure {
    CommandFailure(
      status: .machineFailed,
      sentence: "\(url.path) could not be written: check the disk and its rights, then try again.")
  }
}
