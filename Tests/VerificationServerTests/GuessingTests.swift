// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import QuietHTTP
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

  private func guess(
    _ server: RunningServer, from address: String, form: CodeForm = CodeForm(.pin, 6)
  ) async throws -> Int {
    let code = VerificationCode.drawn(count: form.characterCount, from: SystemRandomness())
    return try await server.redeem(code.characters, headers: Self.from(address)).status
  }

  /// Issues as many PINs of one length as may be live, so that a guess weighs as much as it may.
  private func manyCodes(_ server: RunningServer) async throws -> [String] {
    let risk = GuessingRisk(AttemptLimits())
    let count = risk.liveCodesMax(of: Self.form, lifetime: 1_800)
    let batch = try await server.post(
      VerificationRoute.generateCodesBatch,
      #"{"data":{"numberOfCodes":\#(count),"duration":1800}}"#,
      headers: [VerificationRoute.apiTokenHeader: RunningServer.apiToken])
    let codes = try #require(batch.codes, "\(String(decoding: batch.body, as: UTF8.self))")
    #expect(Set(codes.map(\.count)) == [Self.form.characterCount])
    let weight = risk.weight(of: Self.form, live: codes.count, lifetime: 1_800)
    #expect((0.9...1).contains(weight))
    // The whole total in each of the four windows that a lifetime overlaps.
    let guesses = 4 * Double(AttemptLimits().total) / weight
    #expect(guesses * Double(codes.count) / Self.form.codeCount <= 0.001)
    return codes
  }

  /// The longest one of which a single batch reaches the largest number of live codes.
  private static let form = CodeForm(.pin, 7)

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

  @Test(
    "While codes are guessed, addresses without a wrong one are served, new codes are longer, and the operator is told"
  )
  func total() async throws {
    // One live code of six digits: each guess is one of 500.
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(perCode: 1_000, total: 500),
      configure: {
        $0.trustedProxies = try #require(TrustedProxies(["127.0.0.1"]))
        $0.policy.shortCodeDigits = 6
      }
    ) { server async throws in
      let code = try await server.issue().code
      let wrong = code == "123456" ? "654321" : "123456"
      func guess(_ number: Int) async throws -> Int {
        try await server.redeem(wrong, headers: Self.from("10.1.\(number / 250).\(number % 250)"))
          .status
      }
      for number in 0..<125 { #expect(try await guess(number) == 404) }
      #expect(server.log.lines.count { $0.contains("a quarter of the guesses") } == 1)
      #expect(try await server.issue().code.utf8.count == 7)
      for number in 125..<251 { #expect(try await guess(number) == 404, "\(number)") }
      #expect(server.log.lines.count { $0.contains("half of the guesses") } == 1)
      // From here on each address has one wrong code.
      #expect(try await guess(0) == 429)
      #expect(try await guess(300) == 404)
      #expect(try await guess(300) == 429)
      #expect(try await server.redeem(code, headers: Self.from("192.0.2.4")).status == 200)
      for number in 301..<500 { _ = try await guess(number) }
      #expect(server.log.lines.count { $0.contains("three quarters of the guesses") } == 1)
      // Guesses of six digits are over; a longer code from during the attack still works.
      #expect(try await guess(500) == 429)
      let longer = try await server.issue().code
      #expect(longer.utf8.count > 6)
      #expect(try await server.redeem(longer, headers: Self.from("192.0.2.5")).status == 200)
    }
  }

  /// Sends three wrong PINs from each of 550 addresses, and six from each IPv6 /48 of a /40.
  ///
  /// - Returns: The number of those that were verified within the limits.
  private func guessFromEverywhere(_ server: RunningServer) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      var addresses: [[String]] = []
      for number in 0..<550 {
        addresses.append(Array(repeating: "10.\(number / 200).\(number % 200).1", count: 3))
      }
      for number in 0..<256 {
        let network = "2001:db8:\(String(0x1100 + number, radix: 16))"
        addresses.append((0..<6).map { "\(network):\($0)::1" })
      }
      for sent in addresses {
        group.addTask {
          var count = 0
          for address in sent where try await guess(server, from: address, form: Self.form) == 404 {
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
  }

  @Test("Three thousand wrong PINs from 550 addresses and one IPv6 /40 stop no code of others")
  func attack() async throws {
    try await run(AttemptLimits(issuesPerApiKey: 100_000)) { server async throws in
      let codes = try await manyCodes(server)
      // Within the limits: of the /40 only as many as four networks of 48 bits may send.
      #expect(try await guessFromEverywhere(server) == 3 * 550 + 4 * 120)
      let alarms = server.log.lines.filter { $0.contains("of the guesses") }
      #expect(alarms.isEmpty, "\(alarms)")
      for (number, code) in codes.prefix(4).enumerated() {
        let honest = try await server.redeem(code, headers: Self.from("192.0.2.\(number)"))
        #expect(honest.status == 200)
      }
      // Also behind an address of the attack, and in its IPv6 network.
      for (code, address) in zip(
        codes.suffix(4), ["10.0.1.1", "10.1.5.1", "2001:db8:1103::7", "2001:db8:11ff:9::1"])
      {
        #expect(try await server.redeem(code, headers: Self.from(address)).status == 200)
      }
    }
  }

  @Test(
    "Ten addresses (80 in the proof) with hundreds of wrong PINs refuse no right PIN behind three or thirty wrong ones"
  )
  func noisyAddresses() async throws {
    try await run(AttemptLimits(issuesPerApiKey: 100_000)) { server async throws in
      var codes = try await manyCodes(server)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<(Proof.isRunning ? 80 : 10) {
          group.addTask {
            for _ in 0..<340 {
              _ = try await guess(server, from: "10.0.0.\(number)", form: Self.form)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(server.log.lines.filter { $0.contains("of the guesses") }.isEmpty)
      #expect(server.log.errors.count { $0.contains("half of what is left for them") } == 1)
      for count in Proof.isRunning ? [3, 30] : [3, 30, 20] {
        for _ in 0..<count { _ = try await guess(server, from: "192.0.2.1", form: Self.form) }
        for _ in 0..<5 {
          let right = try await server.redeem(codes.removeLast(), headers: Self.from("192.0.2.1"))
          #expect(right.status == 200, "\(count)")
        }
      }
    }
  }

  @Test(
    "A typed PIN with look-alikes weighs as much as all its readings, which share the limit of a code"
  )
  func readings() async throws {
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(perAddress: 1_000, perCode: 4)
    ) { server async throws in
      for (number, code) in ["AO2B3C", "A02B3C", "AO2B3C", "a02b3c"].enumerated() {
        #expect(try await server.redeem(code).status == 404, "\(number)")
      }
      for code in ["AO2B3C", "A02B3C"] { #expect(try await server.redeem(code).status == 429) }
      #expect(try await server.redeem("AP2B3C").status == 404)
    }
    let bench = try VerificationBench()
    for _ in 0..<18 { _ = try await bench.code() }
    let weights = GuessWeights(
      storage: bench.storage, risk: GuessingRisk(AttemptLimits()),
      rules: RulesInForce(pinLifetime: VerificationBench.lifetime, policy: CodePolicy()),
      clock: bench.clock)
    let one = try await weights.weight(of: VerificationCode("A2B3C4"))
    #expect((0.9...1).contains(one))
    for (text, count) in [("A0B3C4", 2.0), ("A0B1C4", 4), ("O0I1A2", 16)] {
      #expect(try await weights.weight(of: VerificationCode(text)) == count * one, "\(text)")
    }
    #expect(try await weights.weight(of: LongCode.drawn(count: 16, from: SystemRandomness())) == 0)
  }

  @Test(
    "After the lifetime of PINs was shortened, guesses weigh as much while earlier PINs are valid")
  func shortened() async throws {
    let bench = try VerificationBench()
    for _ in 0..<18 { _ = try await bench.code() }
    func weight(_ lifetime: TimeInterval) async throws -> Double {
      try await GuessWeights(
        storage: bench.storage, risk: GuessingRisk(AttemptLimits()),
        rules: RulesInForce(pinLifetime: lifetime, policy: CodePolicy()), clock: bench.clock
      ).weight(of: VerificationCode("A2B3C4"))
    }
    let before = try await weight(VerificationBench.lifetime)
    #expect(try await weight(60) == before && before > 0)
    bench.clock.advance(by: VerificationBench.lifetime + 1)
    #expect(try await weight(60) == 0)
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

  @Test(
    "Whatever is guessed, the expected hits in a lifetime of a code stay below a thousandth",
    arguments: [1, 5, 18, 400])
  func guessedHits(live: Int) async throws {
    let clock = ManualClock(VerificationBench.start)
    let (limits, lifetime) = (AttemptLimits(), VerificationBench.lifetime)
    let risk = GuessingRisk(limits)
    let budget = FailureBudget(
      limits.ofCodes, clock: clock, randomness: SystemRandomness())
    // The shortest form of which so many codes may be live.
    let form = try #require(
      VerificationCode.characterCounts.map { CodeForm(.pin, $0) }.first {
        risk.liveCodesMax(of: $0, lifetime: lifetime) >= live
      })
    let weight = risk.weight(of: form, live: live, lifetime: lifetime)
    #expect(weight <= 1)
    // As many guesses as the budget has room for, from all clients.
    var (guesses, second, clients) = (0.0, 0.0, 0)
    while second <= lifetime {
      // Each attempt stands for a thousandth of the total, so that the test ends soon.
      let step = max(1, Double(limits.total) / weight / 1_000)
      while true {
        clients += 1
        let address = NumericAddress("10.\(clients >> 16).\(clients >> 8 & 255).\(clients & 255)")
        do { try await budget.fail(from: address, weight: weight * step) } catch { break }
        guesses += step
      }
      clock.advance(by: Double(limits.windowSeconds))
      second += Double(limits.windowSeconds)
    }
    let hits = guesses * Double(live) / form.codeCount
    #expect(hits <= 0.001 && hits > 0.0005)
  }

  @Test(
    "With many live PINs (30,000 in the proof) new ones are longer, and short ones are as rare as needed"
  )
  func manyLive() async throws {
    let (batches, size) = Proof.isRunning ? (30, 1_000) : (2, 400)
    let bench = try VerificationBench()
    let issuer = bench.codeIssuer()
    var codes: [VerificationCode] = []
    for _ in 0..<batches {
      codes += try await issuer.codes(
        size, for: VerificationBench.confirmed, lifetime: VerificationBench.lifetime)
    }
    let one = try await issuer.code(for: VerificationBench.confirmed)
    let byLength = Dictionary(grouping: codes, by: \.characters.count).mapValues(\.count)
    let risk = GuessingRisk(AttemptLimits())
    for (length, count) in byLength {
      #expect(
        count <= risk.liveCodesMax(of: CodeForm(.pin, length), lifetime: VerificationBench.lifetime)
      )
    }
    #expect(codes.count == batches * size)
    #expect(Set(byLength.keys) == (Proof.isRunning ? [8, 9] : [7, 8]))
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

extension FailureBudget {
  /// A failed attempt.
  fileprivate func fail(from address: NumericAddress?, weight: Double) async throws {
    try await attempt(by: address, on: nil, weight: weight) { .failed(()) }
  }
}
