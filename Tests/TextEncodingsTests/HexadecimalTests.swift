// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TextEncodings

@Suite("Hexadecimal")
struct HexadecimalTests {
  /// The vectors of RFC 4648, section 10.
  private static let rfcVectors = [
    ("", ""), ("f", "66"), ("fo", "666F"), ("foo", "666F6F"), ("foob", "666F6F62"),
    ("fooba", "666F6F6261"), ("foobar", "666F6F626172"),
  ]

  @Test(
    "The vectors of RFC 4648 are encoded in lower case and decoded in either", arguments: rfcVectors
  )
  func vectors(_ text: String, _ encoded: String) {
    let bytes = Array(text.utf8)
    #expect(bytes.hexadecimal == encoded.lowercased())
    #expect([UInt8](hexadecimal: encoded) == bytes)
    #expect(Data(hexadecimal: encoded.lowercased()) == Data(bytes))
  }

  @Test("Every byte is encoded as printf does, and decoded again")
  func everyByte() {
    for byte in UInt8.min...UInt8.max {
      #expect([byte].hexadecimal == String(format: "%02x", byte))
      #expect([UInt8](hexadecimal: String(format: "%02X", byte)) == [byte])
    }
  }

  @Test(
    "Text with an odd number of digits or another character is rejected",
    arguments: [
      "0", "123", "0g", "G0", "0x", " 00", "00 ", "0 0", "-1", "+1", "00\n", "/:", "@`",
      "\u{FF11}\u{FF12}",
      "\u{E9}\u{E9}", "0\u{0}",
    ])
  func invalid(_ text: String) {
    #expect([UInt8](hexadecimal: text) == nil)
    #expect(Data(hexadecimal: text) == nil)
  }
}
