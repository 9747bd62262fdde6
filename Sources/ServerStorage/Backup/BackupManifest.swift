// SPDX-License-Identifier: Apache-2.0
import Crypto
import TextEncodings

/// The last entry of a backup: the files before it, with their hashes.
package struct BackupManifest: Codable, Hashable, Sendable {
  /// A file in the archive.
  package struct Entry: Codable, Hashable, Sendable {
    package let name: String
    package let bytes: Int
    /// In lower-case hex.
    package let sha256: String
  }

  /// The version of the layout. In version 1 a backup was of one server.
  static let format = 2

  /// The servers that were backed up: `verification`, `keys`, `console`.
  package let servers: [String]
  /// In Unix seconds.
  package let createdAt: Int64
  package let files: [Entry]

  static let fileName = "manifest.json"
  /// The largest manifest that is read, in bytes.
  static let bytesMax = 1 << 20

  init(servers: [String], createdAt: Int64, files: [Entry]) {
    self.servers = servers
    self.createdAt = createdAt
    self.files = files
  }

  static func text(_ digest: SHA256.Digest) -> String {
    digest.hexadecimal
  }
}

extension BackupManifest {
  private enum CodingKeys: CodingKey {
    case format, server, servers, createdAt, files
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    servers =
      switch try fields.decode(Int.self, forKey: .format) {
      case 1: [try fields.decode(String.self, forKey: .server)]
      case Self.format: try fields.decode([String].self, forKey: .servers)
      case let format:
        throw DecodingError.dataCorruptedError(
          forKey: .format, in: fields, debugDescription: "unknown format \(format)")
      }
    createdAt = try fields.decode(Int64.self, forKey: .createdAt)
    files = try fields.decode([Entry].self, forKey: .files)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.format, forKey: .format)
    try fields.encode(servers, forKey: .servers)
    try fields.encode(createdAt, forKey: .createdAt)
    try fields.encode(files, forKey: .files)
  }
}
