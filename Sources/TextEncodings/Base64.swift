// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Strict base64 (RFC 4648): every byte sequence has exactly one text in each alphabet.
package enum Base64: Sendable {
  /// The URL alphabet (section 5) with `-` and `_`.
  case url
  /// Both alphabets, even mixed, because writers of keys and HMACs differ.
  case either

  /// The bytes of an unpadded base64url text, or nil if it is invalid.
  package static func urlBytes(_ text: Substring.UTF8View) -> [UInt8]? {
    text.withContiguousStorageIfAvailable(Base64.url.bytes)
      ?? Array(text).withUnsafeBufferPointer(Base64.url.bytes)
  }

  /// The bytes of a text in either alphabet, padded or not, or nil if it is invalid.
  package static func bytes(_ text: String) -> [UInt8]? {
    withDigits(of: text, Base64.either.bytes)
  }

  /// Decodes a text in either alphabet, padded or not, into `bytes`.
  ///
  /// - Returns: `false` if the text is invalid or does not fill `bytes` exactly.
  package static func read(_ text: String, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
    withDigits(of: text) { Base64.either.read($0, into: bytes) ? true : nil } ?? false
  }

  /// Calls `read` with the digits of `text` if its padding is complete or absent.
  private static func withDigits<Value>(
    of text: String, _ read: (UnsafeBufferPointer<UInt8>) -> Value?
  ) -> Value? {
    var text = text
    return text.withUTF8 { text in
      let digits = UnsafeBufferPointer(rebasing: text.prefix { $0 != UInt8(ascii: "=") })
      let padding = text[digits.count...]
      guard padding.isEmpty || (padding.count <= 2 && text.count % 4 == 0),
        padding.allSatisfy({ $0 == UInt8(ascii: "=") })
      else { return nil }
      return read(digits)
    }
  }
}

extension Data {
  /// The unpadded base64url text of the bytes.
  package var base64URL: String {
    let standard = base64EncodedData().prefix { $0 != UInt8(ascii: "=") }
    let digits = standard.map { digit in
      switch digit {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: digit
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes of an unpadded base64url text, or nil if it is invalid.
  package init?(base64URL text: some StringProtocol) {
    guard let bytes = Base64.urlBytes(Substring(text).utf8) else { return nil }
    self.init(bytes)
  }
}

extension Base64 {
  /// The bytes of unpadded `digits`.
  ///
  /// - Returns: Nil if there is another character, an impossible number of digits, or an unused bit set.
  func bytes(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var isRead = false
    let bytes = [UInt8](unsafeUninitializedCapacity: digits.count * 3 / 4) { bytes, count in
      isRead = read(digits, into: UnsafeMutableRawBufferPointer(bytes))
      count = isRead ? digits.count * 3 / 4 : 0
    }
    return isRead ? bytes : nil
  }

  /// Decodes unpadded `digits` into `bytes`.
  ///
  /// - Returns: `false` if the digits are invalid or do not fill `bytes` exactly.
  func read(
    _ digits: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard digits.count % 4 != 1, bytes.count == digits.count * 3 / 4 else { return false }
    return values.withUnsafeBufferPointer { values in
      var (bits, held, place): (UInt32, UInt32, Int) = (0, 0, 0)
      for digit in digits {
        let value = values[Int(digit)]
        guard value < 64 else { return false }
        bits = bits << 6 | UInt32(value)
        held += 6
        guard held >= 8 else { continue }
        held -= 8
        bytes[place] = UInt8(truncatingIfNeeded: bits >> held)
        place += 1
      }
      return bits & (1 << held - 1) == 0
    }
  }

  /// The value of each ASCII byte; 255 marks a byte that is not a digit.
  private var values: [UInt8] {
    switch self {
    case .url: Self.urlValues
    case .either: Self.eitherValues
    }
  }

  private static let urlValues = values(of62: "-", of63: "_")
  private static let eitherValues = values(of62: "+-", of63: "/_")

  private static func values(of62: String, of63: String) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
    for digit in of62.utf8 { values[Int(digit)] = 62 }
    for digit in of63.utf8 { values[Int(digit)] = 63 }
    return values
  }
}
