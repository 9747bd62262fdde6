import Foundation
import Testing
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Seed 3: how codes are issued")
struct CodeIssuanceTests {
  let bench: VerificationBench

  init() throws {
    bench = try VerificationBench()
  }

  /// Random bytes from which "A1B2C3" is drawn, found by drawing: what is recorded is what was used.
  private static func script() -> (code: VerificationCode, bytes: [UInt8]) {
    let recorder = RecordingRandomness()
    let code = VerificationCode.drawn(from: recorder)
    return (code, recorder.recorded)
  }

  @Test("A thousand live codes are a thousand different ones")
  func different() async throws {
    var codes: Set<VerificationCode> = []
    for _ in 0..<1_000 { codes.insert(try await bench.code()) }
    #expect(codes.count == 1_000)
  }

  @Test("A draw that a live code equals is drawn again; that of an expired code is not")
  func drawnAgain() async throws {
    let script = Self.script()
    let first = try await bench.issuance(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(first == script.code)
    let second = try await bench.issuance(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(second != script.code)

    bench.clock.advance(VerificationBench.lifetime + 1)
    let third = try await bench.issuance(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    #expect(third == script.code)
  }

  @Test("A source that draws the same code for ever ends in a refusal, not in a loop")
  func noLoop() async throws {
    let script = Self.script()
    let stuck = (0...VerificationLimit.drawsMax).flatMap { _ in script.bytes }
    _ = try await bench.issuance(randomness: ScriptedRandomness(script.bytes))
      .code(for: VerificationBench.confirmed)
    await #expect(throws: VerificationServerError.storageUnavailable) {
      try await bench.issuance(randomness: ScriptedRandomness(stuck))
        .code(for: VerificationBench.confirmed)
    }
  }

  @Test("D9 Only the listed api tokens are accepted, each whole")
  func apiTokens() throws {
    let tokens = try ApiTokens(["first-api-token-1", "second-api-token-2"])
    #expect(tokens.contain("first-api-token-1"))
    #expect(tokens.contain("second-api-token-2"))
    for wrong in [nil, "", "first-api-token-", "first-api-token-11", "First-api-token-1"] {
      #expect(!tokens.contain(wrong))
    }
    let none = try ApiTokens([])
    #expect(!none.contain("") && !none.contain(nil))
  }

  @Test("An api token too short or too long, or one too many, is refused by name")
  func apiTokenLimits() throws {
    let lengths = VerificationLimit.apiTokenCharacters
    for (length, isGood) in [
      (lengths.lowerBound - 1, false), (lengths.lowerBound, true), (lengths.upperBound, true),
      (lengths.upperBound + 1, false),
    ] {
      let tokens = try? ApiTokens([String(repeating: "a", count: length)])
      #expect((tokens != nil) == isGood)
    }
    let one = String(repeating: "a", count: 16)
    for (count, isGood) in [(31, true), (32, true), (33, false)] {
      #expect(((try? ApiTokens([String](repeating: one, count: count))) != nil) == isGood)
    }
  }
}
