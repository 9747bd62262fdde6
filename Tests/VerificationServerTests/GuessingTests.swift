// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// Guesses of codes from many addresses, and the honest users beside them.
@Suite("Guessed codes")
struct GuessingTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ limits: AttemptLimits, _ test: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url, attempts: limits,
      configure: { $0.trustedProxies = try #require(TrustedProxies(["127.0.0.1"])) }, test)
  }

  private static func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

  private func guess(_ server: RunningServer, from address: String) async throws -> Int {
    let code = VerificationCode.drawn(from: SystemRandomness()).characters
    return try await server.redeem(code, headers: Self.from(address)).status
  }

  @Test("Fifty correct PINs from one address at the same time all get a token")
  func simultaneous() async throws {
    try await run(AttemptLimits()) { server async throws in
      var codes: [String] = []
      for _ in 0..<50 { codes.append(try await server.newCode()) }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for code in codes {
          group.addTask {
            try await server.redeem(code, headers: Self.from("192.0.2.1")).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [Int](repeating: 200, count: 50))
    }
  }

  @Test("Guesses from one IPv6 /48 share a budget, and so do those from one /56")
  func networks() async throws {
    let limits = AttemptLimits(perAddress: 3, perSubnet: 5, perNetwork: 8, perCode: 100)
    try await run(limits) { server async throws in
      var refused = 0
      for number in 0..<20 where try await guess(server, from: "2001:db8:1:1\(number)::1") == 429 {
        refused += 1
      }
      // Five in the first network of 56 bits, then three in the second: eight in that of 48 bits.
      #expect(refused == 12)
      #expect(try await guess(server, from: "2001:db8:1:9900::1") == 429)
      #expect(try await guess(server, from: "2001:db8:2::1") == 404)
      for _ in 0..<5 { _ = try await guess(server, from: "2001:db8:3::1") }
      #expect(try await guess(server, from: "2001:db8:3:0:8::1") == 429)
      #expect(try await guess(server, from: "2001:db8:3:1::1") == 404)
    }
  }

  @Test("Guesses through both contracts share the total, which slows down every guesser")
  func total() async throws {
    let limits = AttemptLimits(perAddress: 20, perCode: 100, total: 10)
    try await run(limits) { server async throws in
      let code = try await server.newCode()
      for _ in 0..<2 { #expect(try await guess(server, from: "192.0.2.1") == 404) }
      for number in 0..<3 {
        let refused = try await server.device(
          VerificationRoute.verify, #"{"code":"1234567\#(number)"}"#,
          headers: Self.from("192.0.2.2"))
        #expect(refused.refusal == "400 code_invalid")
      }
      // Five failures are half of the total: from here on, two failures of an address are enough to wait.
      for _ in 0..<2 { #expect(try await guess(server, from: "192.0.2.1") == 429) }
      #expect(try await guess(server, from: "192.0.2.3") == 404)
      #expect(
        try await server.redeem(code, headers: Self.from("192.0.2.4")).status == 200)
      #expect(server.log.lines.count { $0.contains("codes are being guessed") } == 1)
    }
  }

  @Test("A thousand wrong codes from a thousand addresses do not lock out honest users")
  func honestUsers() async throws {
    try await run(AttemptLimits()) { server async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<1_000 {
          group.addTask {
            let address = "10.\(number / 200).\(number % 200).1"
            let refused = try await server.device(
              VerificationRoute.verify, #"{"code":"\#(100_000 + number)"}"#,
              headers: Self.from(address))
            #expect(refused.refusal == "400 code_invalid")
          }
        }
        try await group.waitForAll()
      }
      let code = try await server.issue().code
      let verified = try await server.device(
        VerificationRoute.verify, #"{"code":"\#(code)"}"#, headers: Self.from("192.0.2.9"))
      #expect(verified.status == 200)
    }
  }
}

@Suite("Length of codes")
struct CodeLengthTests {
  @Test(
    "At every number of live codes fewer than a thousandth of a guess hits one",
    arguments: [
      (CodeForm.Kind.pin, 6...10, 1_800.0), (.pin, 6...10, 86_400), (.short, 6...11, 900),
      (.short, 6...11, 3_600),
    ])
  func expectedHits(kind: CodeForm.Kind, lengths: ClosedRange<Int>, lifetime: TimeInterval) {
    for limits in [AttemptLimits(), AttemptLimits(total: 100_000, windowSeconds: 60)] {
      for length in lengths {
        let form = CodeForm(kind, length)
        let live = Double(GuessingRisk(limits).liveCodesMax(of: form, lifetime: lifetime))
        // The most failures that fit into a lifetime: one window's at its start, and in each that follows.
        var (guesses, second) = (0, 0.0)
        while second <= lifetime {
          guesses += limits.total
          second += Double(limits.windowSeconds)
        }
        #expect(live * Double(guesses) / form.codeCount <= 0.001, "\(form)")
        #expect((live + 1) * Double(guesses) / form.codeCount > 0.001, "\(form)")
      }
    }
  }

  @Test("With thirty thousand live PINs new ones are longer, and PINs of six are as rare as needed")
  func manyLive() async throws {
    let bench = try VerificationBench()
    let issuer = bench.codeIssuer()
    var codes: [VerificationCode] = []
    for _ in 0..<30 {
      codes += try await issuer.codes(
        1_000, for: VerificationBench.confirmed, lifetime: VerificationBench.lifetime)
    }
    let one = try await issuer.code(for: VerificationBench.confirmed)
    let byLength = Dictionary(grouping: codes, by: \.characters.count).mapValues(\.count)
    let risk = GuessingRisk(AttemptLimits())
    for (length, count) in byLength {
      #expect(
        count <= risk.liveCodesMax(of: CodeForm(.pin, length), lifetime: VerificationBench.lifetime)
      )
    }
    #expect(byLength.values.reduce(0, +) == 30_000 && Set(byLength.keys) == [7, 8])
    // A single PIN still fits among those of six characters.
    #expect(one.characters.count == 6)
    #expect(try await bench.redeemer().token(for: try #require(codes.last), keyHMAC: nil) != nil)
  }

  @Test("If even the longest codes could be guessed, none is issued")
  func tooMany() async throws {
    let bench = try VerificationBench()
    var issuer = bench.codeIssuer()
    issuer.risk = GuessingRisk(AttemptLimits(total: 1_000_000, windowSeconds: 1))
    let properties = CodeProperties(testResult: VerificationBench.confirmed)
    await #expect(throws: VerificationServerError.tooManyLiveCodes) {
      _ = try await issuer.issue(properties)
    }
  }
}
