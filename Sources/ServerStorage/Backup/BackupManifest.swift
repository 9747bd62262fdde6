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

  /// The version of the layout.
  package private(set) var format = 1
  /// The server that was backed up: `keys` or `verification`.
  package let server: String
  /// In Unix seconds.
  package let createdAt: Int64
  package let files: [Entry]

  static let fileName = "manifest.json"
  /// The largest manifest that is read, in bytes.
  static let bytesMax = 1 << 20

  init(server: String, createdAt: Int64, files: [Entry]) {
    self.server = server
    self.createdAt = createdAt
    self.files = files
  }

  static func text(_ digest: SHA256.Digest) -> String {
    digest.hexadecimal
  }
}
