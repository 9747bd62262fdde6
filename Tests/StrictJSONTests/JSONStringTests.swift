// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import StrictJSON

/// All readers of a string accept the same bytes as Foundation and read the same text.
@Suite("JSON strings")
struct JSONStringTests {
  /// The text that Foundation reads between quotation marks, or nil if it is invalid.
  private func expectedText(_ text: [UInt8]) -> String? {
    let json = Data("[\"".utf8) + text + Data("\"]".utf8)
    let decoded = try? JSONDecoder().decode([String].self, from: json)
    let parsed = try? JSONSerialization.jsonObject(with: json) as? [String]
    #expect(decoded == parsed, "\(text)")
    return decoded?.count == 1 ? decoded?[0] : nil
  }

  private func cursor(_ parts: String..., around text: [UInt8]) -> JSONCursor {
    JSONCursor(Array(parts[0].utf8) + text + Array(parts[1].utf8))
  }

  private func isRead(_ work: () throws -> Void) -> Bool { (try? work()) != nil }

  private func agree(on text: [UInt8]) {
    let expected = expectedText(text)
    var (value, skipped) = (cursor("\"", "\"", around: text), cursor("\"", "\"", around: text))
    let read = try? value.string()
    let isSkipped = isRead {
      try skipped.skipString()
      try skipped.end()
    }
    let inValue = Data("{\"padding\":\"".utf8) + text + Data("\"}".utf8)
    let inName = Data("{\"".utf8) + text + Data("\":1}".utf8)
    let kinds = (
      read: (isRead { try value.end() } ? read : nil) == expected,
      skipped: isSkipped == (expected != nil),
      value: StrictJSONValidator.accepts(inValue) == (expected != nil),
      name: StrictJSONValidator.accepts(inName) == (expected != nil)
    )
    #expect(kinds == (true, true, true, true), "\(text)")
  }

  @Test("Each byte at each position of short and long strings is read as Foundation reads it")
  func bytes() {
    for count in [1, 7, 8, 9, 19] {
      for place in 0..<count {
        for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
          text[place] = byte
          agree(on: text)
        }
      }
    }
  }

  @Test("Two bytes of which the first begins a character are read as Foundation reads them")
  func pairs() {
    for first in UInt8(0x80)...0xFF {
      for second in stride(from: UInt8.min, through: 0xF0, by: 0x0F) where second != 0x22 {
        agree(on: [first, second])
        agree(on: Array("1234567".utf8) + [first, second] + Array("8".utf8))
      }
    }
  }

  @Test("Characters of three and four bytes, valid or not, are read as Foundation reads them")
  func characters() {
    let edges: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    for first in UInt8(0xDF)...0xF6 {
      for second in edges {
        for third in edges {
          agree(on: [first, second, third])
          for fourth in [0x7F, 0x80, 0xBF, 0xC0] as [UInt8] {
            agree(on: [first, second, third, fourth])
          }
        }
      }
    }
  }

  @Test("Escapes and surrogate pairs, valid or not, are read as Foundation reads them")
  func escapes() {
    let backslash = UInt8(ascii: "\\")
    for byte in UInt8.min...UInt8.max where byte != UInt8(ascii: "\"") {
      agree(on: [backslash, byte])
      agree(on: Array("123456".utf8) + [backslash, byte] + Array("78".utf8))
      for place in 0..<4 {
        var number = Array("\\u00e9".utf8)
        number[2 + place] = byte
        agree(on: number)
      }
    }
    let halves = ["\\uD7FF", "\\uD800", "\\uDBFF", "\\uDC00", "\\uDFFF", "\\uE000", "\\u0000"]
    let others = ["", "a", "\\", "\\u", "\\uD", "\\n", "\\\\", "\\\"", "\\/", "\u{1F600}"]
    for first in halves + others {
      for second in halves + others { agree(on: Array((first + second).utf8)) }
    }
  }
}
