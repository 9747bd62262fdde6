import Foundation

/// Base64 for the text of tokens and keys (RFC 4648, section 5), without padding.
enum Base64URL {
  static func text(_ bytes: Data) -> String {
    let standard = bytes.base64EncodedData().prefix { $0 != UInt8(ascii: "=") }
    let digits = standard.map { digit in
      switch digit {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: digit
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes of `text`, or nil where another text would have said the same.
  static func bytes(_ text: Substring.UTF8View) -> [UInt8]? {
    text.withContiguousStorageIfAvailable(Base64Digits.ofURLs.bytes)
      ?? Array(text).withUnsafeBufferPointer(Base64Digits.ofURLs.bytes)
  }
}
