// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// Searches bytes and files for secrets: as bytes, as hex in both cases, and as base64 with plain or escaped slashes.
public struct PlainTextSearch: Sendable {
  /// The result of a search of files.
  public struct Result: Sendable {
    /// The number of files read.
    public var files = 0
    /// The number of bytes read.
    public var bytes = 0
    /// The names of files that contain a secret.
    public var leaks: [String] = []
  }

  private struct Spelling: Sendable {
    /// The index of the secret.
    let secret: Int
    let bytes: [UInt8]
  }

  private let spellings: [Spelling]
  /// The indices of spellings by their first two bytes, so that one pass looks for all of them.
  private let byStart: [[Int]]

  /// Creates a search for all `secrets`, of at least two bytes each.
  public init(for secrets: [[UInt8]]) {
    spellings = secrets.enumerated().flatMap { index, secret in
      Self.spellings(of: secret).map { Spelling(secret: index, bytes: $0) }
    }
    var byStart = [[Int]](repeating: [], count: 1 << 16)
    for (index, spelling) in spellings.enumerated() {
      byStart[Int(spelling.bytes[0]) << 8 | Int(spelling.bytes[1])].append(index)
    }
    self.byStart = byStart
  }

  private static func spellings(of secret: [UInt8]) -> [[UInt8]] {
    let hex = secret.hexadecimal
    let base64 = Data(secret).base64EncodedString().replacingOccurrences(of: "=", with: "")
    return [
      secret, Array(hex.utf8), Array(hex.uppercased().utf8), Array(base64.utf8),
      Array(base64.replacingOccurrences(of: "/", with: "\\/").utf8),
    ]
  }

  /// The indices of the secrets in `content`.
  public func secretsFound(in content: Data) -> Set<Int> {
    var found: Set<Int> = []
    content.withUnsafeBytes { bytes in
      for start in 0..<max(bytes.count - 1, 0) {
        let candidates = byStart[Int(bytes[start]) << 8 | Int(bytes[start + 1])]
        guard !candidates.isEmpty else { continue }
        for spelling in candidates.map({ spellings[$0] })
        where bytes[start...].starts(with: spelling.bytes) {
          found.insert(spelling.secret)
        }
      }
    }
    return found
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
      if !secretsFound(in: content).isEmpty { result.leaks.append(file.lastPathComponent) }
    }
    return result
  }
}
