import Foundation

/// Searches files for secrets: as bytes, as hex in both cases, and as base64 with plain or escaped slashes.
public struct PlainTextSearch {
  /// The result of a search.
  public struct Result: Sendable {
    /// The number of files read.
    public var files = 0
    /// The number of bytes read.
    public var bytes = 0
    /// The names of files that contain a secret.
    public var leaks: [String] = []
  }

  private let spellings: [Data]

  /// Creates a search for all `secrets`.
  public init(for secrets: [[UInt8]]) {
    spellings = secrets.flatMap { secret in
      let hex = secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      let base64 = Data(secret).base64EncodedString().replacingOccurrences(of: "=", with: "")
      return [
        Data(secret), Data(hex.utf8), Data(hex.uppercased().utf8), Data(base64.utf8),
        Data(base64.replacingOccurrences(of: "/", with: "\\/").utf8),
      ]
    }
  }

  /// Searches every file below `folder`.
  ///
  /// - Throws: If a file cannot be read.
  public func search(below folder: URL) throws -> Result {
    var result = Result()
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    for case let file as URL in all ?? .init() {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      let content = try Data(contentsOf: file)
      result.files += 1
      result.bytes += content.count
      if containsSecret(content) { result.leaks.append(file.lastPathComponent) }
    }
    return result
  }

  /// Returns `true` if `file` contains a secret.
  ///
  /// - Throws: If the file cannot be read.
  public func containsSecret(in file: URL) throws -> Bool {
    containsSecret(try Data(contentsOf: file))
  }

  private func containsSecret(_ content: Data) -> Bool {
    spellings.contains { content.range(of: $0) != nil }
  }
}
