import Foundation

/// Writes texts to a file instead of sending them, one JSON object a line: for rehearsals, and for a
/// gateway that takes files.
///
/// Only its owner may read the file. Each line is on the disk before the code counts as sent.
public actor SMSFile: SMSSending {
  private let file: URL

  /// Appends to `file`; its folder must exist.
  public init(file: URL) {
    self.file = file
  }

  public func send(_ message: SMSMessage) async throws(SMSFailure) {
    do {
      try append(message)
    } catch {
      throw .failed
    }
  }

  private func append(_ message: SMSMessage) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line =
      try encoder.encode(["phone": message.phone.text, "text": message.text]) + Data("\n".utf8)
    if !FileManager.default.fileExists(atPath: file.path) {
      _ = FileManager.default.createFile(
        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    let end = try handle.seekToEnd()
    do {
      try handle.write(contentsOf: line)
      try handle.synchronize()
    } catch {
      // A line that is only half there would spoil the next one.
      try? handle.truncate(atOffset: end)
      throw error
    }
  }
}
