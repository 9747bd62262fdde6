// SPDX-License-Identifier: Apache-2.0

// Hexadecimal, the base 16 of RFC 4648 (section 8): two digits a byte.

extension Sequence<UInt8> {
  /// The bytes in lower-case hexadecimal.
  package var hexadecimal: String {
    String(decoding: flatMap { [Self.digit($0 >> 4), Self.digit($0 & 15)] }, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension RangeReplaceableCollection<UInt8> {
  /// The bytes that `text` encodes with digits of either case; nil if there is another character or an odd number of
  /// digits.
  package init?(hexadecimal text: some StringProtocol) {
    self.init()
    var high: UInt8?
    for character in text.utf8 {
      guard let digit = Self.digitValue(character) else { return nil }
      if let value = high {
        append(value << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    if high != nil { return nil }
  }

  private static func digitValue(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
