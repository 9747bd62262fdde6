// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings

/// Text with secrets that is built in one place in memory, which is overwritten when it is freed.
struct SecretText: Sendable {
  private enum Part: Sendable {
    case plain([UInt8])
    case secret(ZeroingBytes)
    case base64(ZeroingBytes)

    var count: Int {
      switch self {
      case .plain(let bytes): bytes.count
      case .secret(let bytes): bytes.count
      case .base64(let bytes): (bytes.count + 2) / 3 * 4
      }
    }
  }

  private var parts: [Part] = []

  /// The length, in bytes.
  var count: Int { parts.reduce(0) { $0 + $1.count } }

  /// Appends text that is not secret.
  mutating func append(_ text: String) { parts.append(.plain(Array(text.utf8))) }

  /// Appends text that is not secret as a JSON string.
  mutating func appendJSON(_ text: String) {
    // Encoding a string cannot fail.
    parts.append(.plain(Array(JSONEncoder().encodeIfPossible(text) ?? Data("\"\"".utf8))))
  }

  /// Appends a number of eight bytes, most significant first.
  mutating func append(_ number: UInt64) {
    parts.append(.plain(withUnsafeBytes(of: number.bigEndian, Array.init)))
  }

  mutating func append(_ secret: ZeroingBytes) { parts.append(.secret(secret)) }

  mutating func appendBase64(_ secret: ZeroingBytes) { parts.append(.base64(secret)) }

  /// All parts in one buffer.
  func bytes() -> ZeroingBytes {
    ZeroingBytes(count: count) { buffer in
      var start = 0
      for part in parts {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + part.count])
        switch part {
        case .plain(let bytes): room.copyBytes(from: bytes)
        case .secret(let bytes): bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        case .base64(let bytes): bytes.withUnsafeBytes { Self.encodeBase64($0, into: room) }
        }
        start += part.count
      }
    }
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func encodeBase64(
    _ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer
  ) {
    for group in 0..<text.count / 4 {
      let rest = bytes.dropFirst(group * 3).prefix(3)
      let bits = rest.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - rest.count))
      for place in 0..<4 {
        text[group * 4 + place] =
          place <= rest.count
          ? alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)] : UInt8(ascii: "=")
      }
    }
  }
}

extension SecretText: Redacted {}

extension ZeroingBytes {
  /// The same memory as `Data`, without a copy. The memory is overwritten when both are released.
  var data: Data {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return Data() }
      return Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
        deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
  }

  /// Some of the bytes, as a copy.
  func copy(of range: Range<Int>) -> ZeroingBytes {
    withUnsafeBytes { ZeroingBytes(copying: $0[range]) }
  }
}

extension ZeroingBytes {
  /// The HMAC-SHA256 of the bytes.
  func authenticationCode(using key: ZeroingBytes) -> ZeroingBytes {
    var hmac = HMAC<SHA256>(key: SymmetricKey(data: key))
    withUnsafeBytes { hmac.update(data: $0) }
    defer { hmac.update(data: Self.zeroBlock) }
    return ZeroingBytes(copying: Array(hmac.finalize()))
  }

  /// The SHA-256 digest of the bytes.
  var digest: SHA256.Digest {
    var hash = SHA256()
    withUnsafeBytes { hash.update(bufferPointer: $0) }
    defer { hash.update(data: Self.zeroBlock) }
    return hash.finalize()
  }

  // A hash that is freed keeps its last incomplete block in memory. Another block overwrites it.
  private static let zeroBlock = Data(count: SHA256.blockByteCount)
}
