// SPDX-License-Identifier: Apache-2.0
import Testing
import TextEncodings

@Suite("Texts with places for values")
struct FillingTests {
  @Test("A value is never read as a place, whatever it looks like")
  func onePass() {
    #expect("the key %2 of %1".filling(numbered: ["%2", "k1"]) == "the key k1 of %2")
    #expect("%1, %2".filling(numbered: ["%", "2"]) == "%, 2")
    #expect("{a} of {b}".filling(named: ["a": "{b}", "b": "{a}"]) == "{b} of {a}")
  }

  @Test("Places without a value, other signs and percentages stay")
  func others() {
    #expect("%1 %3 80% %0 %x %".filling(numbered: ["a", "b"]) == "a %3 80% %0 %x %")
    #expect("%1".filling(numbered: []) == "%1")
    // Digits of other scripts are no places.
    #expect("%\u{661}".filling(numbered: ["a"]) == "%\u{661}")
    #expect("{a} {c} {}".filling(named: ["a": "1"]) == "1 {c} {}")
  }

  @Test("A value may begin with a combining mark")
  func combining() {
    let text = "%1,%2".filling(numbered: ["\u{301}a", "\u{301}"])
    #expect(text.unicodeScalars.map(\.value) == [0x301, 0x61, 0x2C, 0x301])
  }
}
