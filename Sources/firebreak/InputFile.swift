import Foundation

/// A file named on the command line, read whole.
struct InputFile {
  /// The largest file a command reads whole, in bytes: 750,000 keys as JSON, and room.
  static let byteCountMax = 256 << 20

  let content: Data

  /// Reads the file at `path`; `what` names it in the sentence that refuses it.
  init(_ path: String, what: String) throws {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      content = try file.read(upToCount: Self.byteCountMax + 1) ?? Data()
    } catch {
      throw CommandFailure.badInput(
        "The \(what) \(path) cannot be read: check its name and rights.")
    }
    guard content.count <= Self.byteCountMax else {
      throw CommandFailure.badInput("The \(what) \(path) is too large: split it.")
    }
  }

  /// The content as text; bytes that are none become replacement characters.
  var text: String { String(decoding: content, as: UTF8.self) }
}
