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
    do {
      while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
        hash.update(data: chunk)
      }
    } catch {
      return nil
    }
    return Data(hash.finalize())
  }
}
