import NIOCore

/// Base64 (RFC 4648, section 4) of padding, written where it goes out: it is most of an answer, and nobody reads it.
enum PaddingText {
  /// Writes the digits of as many of `bytes` as come in threes, four for each three.
  static func write(_ bytes: [UInt8], to buffer: inout ByteBuffer) {
    let count = bytes.count / 3 * 4
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { text in
      // Looked up where they lie: checking each place of three arrays took longer than the digits.
      digits.withUnsafeBufferPointer { digits in
        bytes.withUnsafeBufferPointer { write($0, by: digits, to: text) }
      }
      return count
    }
  }

  private static func write(
    _ bytes: UnsafeBufferPointer<UInt8>, by digits: UnsafeBufferPointer<UInt8>,
    to text: UnsafeMutableRawBufferPointer
  ) {
    for group in 0..<bytes.count / 3 {
      let (from, to) = (group * 3, group * 4)
      let (first, second, third) = (bytes[from], bytes[from + 1], bytes[from + 2])
      text[to] = digits[Int(first >> 2)]
      text[to + 1] = digits[Int(first << 4 & 0x30 | second >> 4)]
      text[to + 2] = digits[Int(second << 2 & 0x3C | third >> 6)]
      text[to + 3] = digits[Int(third & 0x3F)]
    }
  }

  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
