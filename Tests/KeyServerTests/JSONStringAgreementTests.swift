import Foundation
import KeyServerAPI
import QuietHTTP
import Testing

@testable import UploadToken

/// All our readers of JSON strings must accept the same strings as Foundation.
@Suite("Agreement of the JSON string readers")
struct JSONStringAgreementTests {
  /// The string that Foundation reads between quotation marks; nil if it is invalid.
  private func decoded(_ text: [UInt8]) -> String? {
    let json = Data("[\"".utf8) + text + Data("\"]".utf8)
    let value = try? JSONDecoder().decode([String].self, from: json)
    let parsed = try? JSONSerialization.jsonObject(with: json) as? [String]
    #expect(value == parsed, "\(text)")
    return value?.count == 1 ? value?[0] : nil
  }

  private func parsed(_ field: String, _ text: [UInt8]) -> PublishRequest? {
    try? PublishRequest(strictJSON: Data("{\"\(field)\":\"".utf8) + text + Data("\"}".utf8))
  }

  private func expectAgreement(_ text: [UInt8]) {
    let expected = decoded(text)
    let inPadding = Data("{\"padding\":\"".utf8) + text + Data("\"}".utf8)
    let inName = Data("{\"".utf8) + text + Data("\":1}".utf8)
    let agreements = (
      read: parsed("healthAuthorityID", text)?.healthAuthorityID == expected,
      padding: (parsed("padding", text) != nil) == (expected != nil),
      statistics: ((try? StatisticsRequest(strictJSON: inPadding)) != nil) == (expected != nil),
      value: StrictJSONValidator.accepts(inPadding) == (expected != nil),
      name: StrictJSONValidator.accepts(inName) == (expected != nil)
    )
    #expect(agreements == (true, true, true, true, true), "\(text)")
    let quoted = Array("\"".utf8) + text + Array("\"".utf8)
    quoted.withUnsafeBufferPointer { bytes in
      var cursor = PlainCursor(bytes)
      // The fast reader may give up, but must not accept a string that the others reject.
      if let plain = cursor.text(), cursor.isAtEnd { #expect(plain == expected, "\(text)") }
    }
  }

  @Test("Every byte at every position of short and long strings")
  func bytes() {
    for count in [1, 7, 8, 9, 19] {
      for place in 0..<count {
        for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
          text[place] = byte
          expectAgreement(text)
        }
      }
    }
  }

  @Test("Two bytes of which the first starts a UTF-8 sequence, at both alignments")
  func pairs() {
    for first in UInt8(0x80)...0xFF {
      for second in stride(from: UInt8.min, through: 0xF0, by: 0x0F) where second != 0x22 {
        expectAgreement([first, second])
        expectAgreement(Array("1234567".utf8) + [first, second] + Array("8".utf8))
      }
    }
  }

  @Test("UTF-8 sequences of three and four bytes: overlong, truncated, surrogates, out of range")
  func characters() {
    let edges: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    for first in UInt8(0xDF)...0xF6 {
      for second in edges {
        for third in edges {
          expectAgreement([first, second, third])
          for fourth in [0x7F, 0x80, 0xBF, 0xC0] as [UInt8] {
            expectAgreement([first, second, third, fourth])
          }
        }
      }
    }
  }

  @Test("Escapes: every letter, every digit position, surrogate pairs and halves")
  func escapes() {
    let backslash = UInt8(ascii: "\\")
    for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
      expectAgreement([backslash, byte])
      expectAgreement(Array("123456".utf8) + [backslash, byte] + Array("78".utf8))
      for place in 0..<4 {
        var number = Array("\\u00e9".utf8)
        number[2 + place] = byte
        expectAgreement(number)
      }
    }
    let halves = ["\\uD7FF", "\\uD800", "\\uDBFF", "\\uDC00", "\\uDFFF", "\\uE000", "\\u0000"]
    let others = ["", "a", "\\", "\\u", "\\uD", "\\n", "\\\\", "\\\"", "\\/", "\u{1F600}"]
    for first in halves + others {
      for second in halves + others { expectAgreement(Array((first + second).utf8)) }
    }
  }
}
