import Testing
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Seed 3: the form of a code")
struct VerificationCodeTests {
  @Test(
    "A code is read however the person typed it",
    arguments: ["A1B2C3", " a1b2c3 ", "A1B 2C3", "a 1 b 2 c 3", "\tA1b2C3\n"])
  func typed(text: String) {
    #expect(VerificationCode(text)?.characters == "A1B2C3")
  }

  @Test(
    "Five or seven characters, no digit, no letter or a strange character make no code",
    arguments: [
      "", "A1B2C", "A1B2C3D", "ABCDEF", "123456", "A1B2C-", "A1B2CÉ", "А1B2C3", "A1B2C３", "𝟏AAAAA",
      "A1B2C\u{0}",
    ])
  func strange(text: String) {
    #expect(VerificationCode(text) == nil)
  }

  @Test("A text one byte longer than anybody types is not looked at")
  func length() {
    let limit = VerificationCode.typedCharactersMax
    for (length, isRead) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      let text = String(repeating: " ", count: length - 6) + "A1B2C3"
      #expect((VerificationCode(text) != nil) == isRead)
    }
  }

  @Test("Drawn codes use the whole alphabet evenly and always have a digit and a letter")
  func drawn() {
    let draws = 5_000
    var counts: [Character: Int] = [:]
    for _ in 0..<draws {
      let code = VerificationCode.drawn(from: SystemRandomness()).characters
      #expect(code.count == 6)
      #expect(code.contains { $0.isNumber } && code.contains { $0.isLetter })
      for character in code { counts[character, default: 0] += 1 }
    }
    #expect(Set(counts.keys) == Set(VerificationCode.alphabet))
    // About 830 of each; a tenth of them is more than ten standard deviations away.
    #expect(counts.values.allSatisfy { $0 > 400 && $0 < 1_400 })
  }

  @Test("Neither a code nor what holds one shows it")
  func redaction() throws {
    let code = try #require(VerificationCode("A1B2C3"))
    let request = AccessTokenRequest(code: "A1B2C3", ekeyhmac: "A1B2C3")
    let keys = try VerificationBench.keys()
    let sealed = try SealedToken(
      "A1B2C3", for: code, keys: keys, nonce: SystemRandomness().bytes(SealedToken.nonceBytes))
    let tokens = try ApiTokens(["A1B2C3A1B2C3A1B2C3"])
    let answer = AccessTokenAnswer(accessToken: "A1B2C3")
    let values = [code, request, answer, keys, keys.hash(of: code), sealed, tokens] as [Any]
    for value in values {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(reflecting: value), dumped] {
        #expect(!shown.contains("A1B2C3"))
        #expect(!shown.contains("bytes"))
      }
    }
  }
}
