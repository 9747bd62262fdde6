import Crypto
import Foundation

/// The SHA-256 of a key file as it lies there, by which a phone knows it again.
enum KeyFileDigest {
  private static let chunkBytes = 1 << 20

  /// Nil where the file cannot be read; the detection will say so.
  static func of(_ file: URL) -> Data? {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
    defer { try? handle.close() }
    var hash = SHA256()
    while true {
      guard let chunk = try? handle.read(upToCount: chunkBytes) else { return nil }
      guard !chunk.isEmpty else { return Data(hash.finalize()) }
      hash.update(data: chunk)
    }
  }
}
