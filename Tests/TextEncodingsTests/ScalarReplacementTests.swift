// SPDX-License-Identifier: Apache-2.0
import Testing
import TextEncodings

@Suite("Replaced scalars")
struct ScalarReplacementTests {
  @Test("A sign is replaced before a combining mark, in a pair of line breaks, and nothing else is")
  func combining() {
    func scalars(_ text: String) -> [UInt32] {
      text.replacingScalars(["\"": "&quot;", "\n": "\\n"]).unicodeScalars.map(\.value)
    }
    let quote = "&quot;".unicodeScalars.map(\.value)
    #expect(scalars("\"\u{301}\"") == quote + [0x301] + quote)
    #expect(scalars("\"\u{FE0F}\u{200D}") == quote + [0xFE0F, 0x200D])
    #expect(scalars("\r\n") == [0x0D, 0x5C, 0x6E])
    // Letters are not composed.
    #expect(scalars("e\u{308}\"") == [0x65, 0x308] + quote)
    #expect(scalars("").isEmpty)
  }
}
