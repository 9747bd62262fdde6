import NIOCore

/// Base64 (RFC 4648, section 4) of padding, written where it goes out: it is most of an answer, and nobody reads it.
enum PaddingText {
  /// Writes the digits of as many of `bytes` as come in threes, four for each three.
  static func write(_ bytes: [UInt8], to buffer: inout ByteBuffer) {
    let groups = bytes.count / 3
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: groups * 4) { text in
      digits.withUnsafeBufferPointer { digits in
        for group in 0..<groups {
          let (first, second, third) = (
            bytes[group * 3], bytes[group * 3 + 1], bytes[group * 3 + 2]
          )
          text[group * 4] = digits[Int(first >> 2)]
          text[group * 4 + 1] = digits[Int(first << 4 & 0x30 | second >> 4)]
          text[group * 4 + 2] = digits[Int(second << 2 & 0x3C | third >> 6)]
          text[group * 4 + 3] = digits[Int(third & 0x3F)]
        }
      }
      return groups * 4
    }
  }

  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
