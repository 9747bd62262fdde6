import DiagnosisKeyFile
import Foundation

/// A folder for files that a suite holds inside its own; it goes away with the value.
final class ScratchFolder {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("firebreak-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Writes an export, and its signature where there is one.
  func keyFile(
    _ name: String, export: [UInt8], signature: [UInt8]? = nil
  ) throws -> UnverifiedKeyFile {
    let file = url.appendingPathComponent("\(name).bin")
    try Data(export).write(to: file)
    if let signature {
      try Data(signature).write(to: url.appendingPathComponent("\(name).sig"))
    }
    return UnverifiedKeyFile(at: file)
  }
}
