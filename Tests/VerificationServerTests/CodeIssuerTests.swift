// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Codes: form, drawing and issuing")
struct CodeIssuerTests {
  let bench: VerificationBench

  init() throws {
    bench = try VerificationBench()
  }

  /// The random bytes from which a PIN was drawn, and the PIN.
  private static func script() -> (code: VerificationCode, bytes: [UInt8]) {
    let recorder = RecordingRandomness()
    let code = VerificationCode.drawn(from: recorder)
    return (code, recorder.recorded)
  }

  @Test("A thousand live codes are all different")
  func different() async throws {
    var codes: Set<VerificationCode> = []
    for _ in 0..<1_000 { codes.insert(try await bench.code()) }
    #expect(codes.count == 1_000)
  }

  @Test("A draw that equals a live code is repeated; one that equals an expired code is not")
  func drawnAgain() async throws {
    let script = Self.script()
    let first = try await bench.codeIssuer(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(first == script.code)
    let second = try await bench.codeIssuer(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(second != script.code)

    bench.clock.advance(by: VerificationBench.lifetime + 1)
    let third = try await bench.codeIssuer(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(third == script.code)
  }

  @Test("If every draw equals a live code, issuing fails instead of looping")
  func noLoop() async throws {
    let script = Self.script()
    let stuck = (0...VerificationLimit.drawsMax).flatMap { _ in script.bytes }
    _ = try await bench.codeIssuer(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    await #expect(throws: VerificationServerError.storageUnavailable) {
      try await bench.codeIssuer(randomness: ScriptedRandomness(stuck))
        .code(for: VerificationBench.confirmed)
    }
  }

  @Test(
    "A PIN is parsed with spaces and in lower case",
    arguments: ["A1B2C3", " a1b2c3 ", "A1B 2C3", "a 1 b 2 c 3", "\tA1b2C3\n"])
  func typed(text: String) {
    #expect(VerificationCode(text)?.characters == "A1B2C3")
  }

  @Test(
    "Text of a wrong length, without digit or letter, or with other characters is not a PIN",
    arguments: [
      "", "A1B2C", "A1B2C3D4E5F", "ABCDEF", "123456", "A1B2C-", "A1B2CÉ", "А1B2C3", "A1B2C３",
      "𝟏AAAAA",
      "A1B2C\u{0}",
    ])
  func strange(text: String) {
    #expect(VerificationCode(text) == nil)
  }

  @Test("Text longer than 64 bytes is not parsed")
  func length() {
    let limit = VerificationCode.typedCharactersMax
    for (length, isRead) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      let text = String(repeating: " ", count: length - 6) + "A1B2C3"
      #expect((VerificationCode(text) != nil) == isRead)
    }
  }

  @Test("Drawn PINs use all characters evenly and have a digit and a letter")
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
    // About 830 of each character; a tenth of that is more than ten standard deviations.
    #expect(counts.values.allSatisfy { $0 > 400 && $0 < 1_400 })
  }

  @Test("Codes, tokens and requests do not show their content when printed")
  func redaction() throws {
    let code = try #require(VerificationCode("A1B2C3"))
    let request = AccessTokenRequest(code: "A1B2C3", ekeyhmac: "A1B2C3")
    let keys = try VerificationBench.keys()
    let sealed = try SealedToken(
      "A1B2C3", for: code, keys: keys, nonce: SystemRandomness().bytes(SealedToken.nonceBytes))
    let tokens = try APITokens(["A1B2C3A1B2C3A1B2C3"])
    let response = AccessTokenResponse(accessToken: "A1B2C3")
    let values = [code, request, response, keys, keys.hash(of: code), sealed, tokens] as [Any]
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
