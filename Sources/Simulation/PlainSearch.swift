import Foundation

/// Looks for secrets in every file below a folder: as bytes, as hex in both cases, and as base64
/// with its slashes plain or escaped, as JSON writes them.
public struct PlainSearch {
  /// What a search found.
  public struct DetectionResult: Sendable {
    /// How many files were read.
    public var files = 0
    /// How many bytes they had.
    public var bytes = 0
    /// The names of files that hold a secret in plain.
    public var leaks: [String] = []
  }

  private let spellings: [Data]

  /// A search for all `secrets`.
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

  /// Reads every file below `folder`.
  ///
  /// - Throws: where a file cannot be read; a search that skipped one would prove nothing.
  public func findings(below folder: URL) throws -> DetectionResult {
    var findings = DetectionResult()
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    for case let file as URL in all ?? .init() {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      let content = try Data(contentsOf: file)
      findings.files += 1
      findings.bytes += content.count
      if holdsSecret(content) { findings.leaks.append(file.lastPathComponent) }
    }
    return findings
  }

  /// Whether `file` holds a secret in plain.
  ///
  /// - Throws: where it cannot be read.
  public func isPlain(in file: URL) throws -> Bool {
    holdsSecret(try Data(contentsOf: file))
  }

  private func holdsSecret(_ content: Data) -> Bool {
    spellings.contains { content.range(of: $0) != nil }
  }
}
