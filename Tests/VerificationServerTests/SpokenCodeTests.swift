// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Codes that are read aloud and typed")
struct SpokenCodeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("No new PIN has a character that is confused with another one", arguments: 6...10)
  func alphabet(count: Int) {
    for _ in 0..<300 {
      let pin = VerificationCode.drawn(count: count, from: SystemRandomness()).characters
      #expect(pin.count == count && !pin.contains { "0O1I".contains($0) }, "\(pin)")
    }
  }

  @Test("The number of PINs is that of all texts of the alphabet with a digit and a letter")
  func codeCount() {
    #expect(CodeForm(.pin, 6).codeCount == 882_376_704)
  }

  @Test("A PIN is accepted with hyphens and spaces, and once only")
  func typed() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for change: @Sendable (String) -> String in [
        { "\($0.prefix(3))-\($0.dropFirst(3))" }, { "\($0.prefix(3))\u{2013}\($0.dropFirst(3)) " },
        { "\($0.prefix(3))\u{A0}\($0.dropFirst(3).lowercased())" },
        { $0.map { "\($0)-" }.joined() },
      ] {
        let code = try await server.newCode()
        let typed = change(code)
        #expect(try await server.redeem(typed).status == 200, "\(typed)")
        // The same code for other keys.
        let hmac = Data(repeating: 1, count: 32).base64EncodedString()
        #expect(try await server.redeem(code, ekeyhmac: hmac).status == 404)
      }
    }
  }

  @Test("A PIN of an earlier version is accepted with each of the characters that are confused")
  func earlier() async throws {
    let bench = try VerificationBench()
    for typed in ["AOB1C2", "A0B1C2", "AOBIC2", "a0b-ic2"] {
      for isVerified in [false, true] {
        let pin = try #require(VerificationCode("AOB1C2"))
        let outcome = try await bench.storage.issue(
          [
            HashedCode(
              hash: bench.keys.hash(of: pin), form: CodeForm(.pin, 6),
              testResult: TestResult(testType: .confirmed), expiresAt: bench.clock.now + 600)
          ], at: bench.clock.now)
        #expect(outcome == [.stored])
        let code = try #require(VerificationCode(typed))
        if isVerified {
          #expect(VerificationCode(typed)?.readings.contains(pin) == true)
        } else {
          let token = try await bench.redeemer().token(for: code, keyHMAC: nil)
          #expect(token != nil, "\(typed)")
          #expect(try await bench.redeemer().token(for: pin, keyHMAC: nil) == token)
        }
        bench.clock.advance(by: 601)
      }
    }
  }

  @Test("A typed PIN has at most 16 readings, each of them once, and itself first")
  func readings() {
    for (text, count) in [("A2B3C4", 1), ("A0B3C4", 2), ("O0I1A2", 16), ("OOOOOOOOO2", 16)] {
      let readings = VerificationCode(text)?.readings ?? []
      #expect(readings.first?.characters == text && Set(readings).count == readings.count)
      #expect(readings.count == count, "\(text)")
    }
  }

  @Test("The eight digits of a doctor's diagnosis give a token for it, other tests give none")
  func diagnosis() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for (test, status) in [("likely", 200), ("confirmed", 200), ("negative", 404)] {
        let code = try await server.issue(#"{"testType":"\#(test)"}"#).code
        #expect(code.count == 8 && code.allSatisfy(\.isNumber))
        let typed = "\(code.prefix(4))-\(code.dropFirst(4))"
        for _ in 0..<2 {
          let response = try await server.redeem(typed)
          #expect(response.status == status, "\(test)")
          guard status == 200 else { continue }
          #expect(try await server.grant(of: response).reportType == test)
        }
      }
    }
  }

  @Test("A code that was exchanged in one contract cannot be used in the other")
  func onceInBoth() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let first = try await server.issue(#"{"testType":"likely"}"#).code
      #expect(try await server.redeem(first).status == 200)
      #expect(try await server.verify(first).status == 400)
      let second = try await server.issue(#"{"testType":"likely"}"#).code
      #expect(try await server.verify(second).status == 200)
      #expect(try await server.redeem(second).status == 404)
    }
  }
}
