import Foundation
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// servers.md 5.11: budgets are on by default, by address, code and API key.
@Suite struct GoogleBudgetTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("5.11 Without a word in the configuration the thirty-first wrong code has to wait")
  func byDefault() async throws {
    try await RunningServer.run(in: folder.url, attempts: AttemptLimits()) { server async throws in
      let good = try await server.issue().code
      for number in 0..<30 {
        let code = String(format: "%08d", number)
        guard code != good else { continue }
        #expect(try await server.verify(code).refusal == "400 code_invalid")
      }
      let refused = try await server.verify(good)
      #expect(refused.refusal == "429 quota_exceeded")
      #expect(refused.headers["retry-after"] == "600")
      server.clock.advance(600)
      #expect(try await server.verify(good).status == 200)
    }
  }

  @Test("5.11 A code bears so many attempts and no more")
  func byCode() async throws {
    let limits = AttemptLimits(perAddress: 100, perCode: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let code = try await server.issue().code
      for _ in 0..<3 {
        #expect(try await server.verify(code, accept: ["user-report"]).status == 412)
      }
      #expect(try await server.verify(code).refusal == "429 quota_exceeded")
    }
  }

  @Test(
    "5.11 Guesses from many addresses have the budget of their API key; honest ones cost nothing")
  func byApiKey() async throws {
    let limits = AttemptLimits(perAddress: 100, perApiKey: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<5 {
        #expect(try await server.verify(try await server.issue().code).status == 200)
      }
      for number in 0..<3 {
        #expect(try await server.verify("1234567\(number)").refusal == "400 code_invalid")
      }
      let code = try await server.issue().code
      #expect(try await server.verify(code).refusal == "429 quota_exceeded")
      let other = try await server.newKey(.device)
      let answer = try await server.post(
        VerificationRoute.verify, #"{"code":"\#(code)"}"#, headers: ["X-API-Key": other])
      #expect(answer.status == 200)
    }
  }

  @Test("2.8 An API key issues so many codes a day; a taken uuid costs nothing")
  func issues() async throws {
    let limits = AttemptLimits(issuesPerApiKey: 2)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let body = #"{"testType":"confirmed","uuid":"0b1c2d3e-0000-4000-8000-000000000001"}"#
      _ = try await server.issue(body)
      for _ in 0..<3 {
        #expect(
          try await server.admin(VerificationRoute.issue, body).refusal
            == "409 uuid_already_exists")
      }
      _ = try await server.issue()
      let refused = try await server.admin(VerificationRoute.issue, #"{"testType":"confirmed"}"#)
      #expect(refused.refusal == "429 quota_exceeded")
      #expect(refused.headers["retry-after"] == "86400")
      server.clock.advance(86_400)
      _ = try await server.issue()
    }
  }

  @Test("Wrong API keys have a budget, too, which honest callers from elsewhere do not feel")
  func wrongKeys() async throws {
    let limits = AttemptLimits(perAddress: 3)
    try await RunningServer.run(
      in: folder.url, attempts: limits,
      configure: { $0.trustedProxies = try #require(TrustedProxies(["127.0.0.1"])) }
    ) { server async throws in
      let path = VerificationRoute.checkCodeStatus
      for _ in 0..<3 {
        let wrong = try await server.post(
          path, "{}", headers: ["X-API-Key": "x", "X-Forwarded-For": "192.0.2.1"])
        #expect(wrong.status == 401)
      }
      let blocked = try await server.admin(path, "{}", headers: ["X-Forwarded-For": "192.0.2.1"])
      #expect(blocked.refusal == "429 quota_exceeded")
      let other = try await server.admin(path, "{}", headers: ["X-Forwarded-For": "192.0.2.2"])
      #expect(other.refusal == "400 unparsable_request")
    }
  }

  @Test("What a client writes about its address counts only where a trusted proxy passes it on")
  func forwarded() async throws {
    let limits = AttemptLimits(perAddress: 2)
    for (proxies, shared) in [([], true), (["127.0.0.0/8"], false)] as [([String], Bool)] {
      let folder = try TemporaryFolder()
      try await RunningServer.run(
        in: folder.url, attempts: limits,
        configure: { $0.trustedProxies = try #require(TrustedProxies(proxies)) }
      ) { server async throws in
        for number in 0..<3 {
          let answer = try await server.redeem(
            "A1B2C3", headers: ["X-Forwarded-For": "198.51.100.\(number)"])
          #expect(answer.status == (shared && number == 2 ? 429 : 404))
        }
      }
    }
  }
}
