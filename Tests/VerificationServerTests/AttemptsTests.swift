// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite struct AttemptsTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "After the allowed failures an address gets 429 for wrong PINs until the window ends")
  func perAddress() async throws {
    let limits = AttemptLimits(perAddress: 3, perCode: 100, windowSeconds: 600)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<3 { #expect(try await server.redeem("A1B2C3").status == 404) }
      let refused = try await server.redeem("A1B2C3")
      #expect(refused.status == 429)
      #expect(refused.failure?.error.status == .resourceExhausted)
      #expect(refused.headers["retry-after"] == "600")
      server.clock.advance(by: 599)
      #expect(try await server.redeem("A1B2C3").headers["retry-after"] == "1")
      server.clock.advance(by: 1)
      #expect(try await server.redeem("A1B2C3").status == 404)
    }
  }

  @Test("After many wrong PINs of others behind the address, right ones are served")
  func behindOneAddress() async throws {
    try await RunningServer.run(in: folder.url, attempts: AttemptLimits()) { server async throws in
      for number in 0..<60 {
        let code = "A1B2C\(number % 10)"
        #expect(try await server.redeem(code).status == (number < 30 ? 404 : 429))
      }
      for _ in 0..<5 {
        #expect(try await server.redeem(try await server.newCode()).status == 200)
      }
      #expect(try await server.verify(try await server.issue().code).status == 200)
      #expect(try await server.redeem("A1B2D3").status == 429)
    }
  }

  @Test("Valid PINs do not count against the budget of the address")
  func honest() async throws {
    let limits = AttemptLimits(perAddress: 2, perCode: 100)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<10 {
        let code = try await server.newCode()
        #expect(try await server.redeem(code).status == 200)
      }
    }
  }

  @Test(
    "A PIN, unknown or used by another client, allows exactly the configured number of failures",
    arguments: [true, false])
  func perCode(exists: Bool) async throws {
    let limits = AttemptLimits(perAddress: 100, perCode: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let code = exists ? try await server.newCode() : "A1B2C3"
      let other = Data(repeating: 9, count: 32).base64EncodedString()
      if exists {
        for _ in 0..<5 { #expect(try await server.redeem(code).status == 200) }
      }
      for _ in 0..<3 { #expect(try await server.redeem(code, ekeyhmac: other).status == 404) }
      let refused = try await server.redeem(code, ekeyhmac: other)
      #expect(refused.status == 429)
      #expect(refused.headers["retry-after"] == "600")
      #expect(try await server.redeem("Z9Z9Z9").status == 404)
    }
  }

  @Test("Wrong API tokens count against the budget of the address")
  func operators() async throws {
    let limits = AttemptLimits(perAddress: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let wrong = [VerificationRoute.apiTokenHeader: "a-wrong-operators-token"]
      for _ in 0..<3 { #expect(try await server.generate(headers: wrong).status == 403) }
      #expect(try await server.generate(headers: wrong).status == 429)
      // A right token is not refused for the wrong ones of others.
      #expect(try await server.generate().status == 200)
      server.clock.advance(by: 600)
      #expect(try await server.generate(headers: wrong).status == 403)
    }
  }

  @Test("Wrong PINs from an address do not stop its operators from issuing codes")
  func separate() async throws {
    let limits = AttemptLimits(perAddress: 2)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<2 { #expect(try await server.redeem("A1B2C3").status == 404) }
      #expect(try await server.redeem("A1B2C3").status == 429)
      #expect(try await server.generate().status == 200)
    }
  }

  @Test("Decoys do not count as attempts")
  func decoys() async throws {
    let limits = AttemptLimits(perAddress: 1, perCode: 1)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<3 {
        #expect(try await server.redeem("A1B2C3", headers: ["X-Chaff": "1"]).status == 200)
      }
      #expect(try await server.redeem("A1B2C3").status == 404)
    }
  }

  @Test("With the default configuration the thirty-first wrong code gets 429")
  func byDefault() async throws {
    try await RunningServer.run(in: folder.url, attempts: AttemptLimits()) { server async throws in
      let good = try await server.issue().code
      let wrong = (0..<40).map { String(format: "%08d", $0) }.filter { $0 != good }
      for code in wrong.prefix(30) {
        #expect(try await server.verify(code).refusal == "400 code_invalid")
      }
      let refused = try await server.verify(wrong[30])
      #expect(refused.refusal == "429 quota_exceeded")
      #expect(refused.headers["retry-after"] == "600")
      #expect(try await server.verify(good).status == 200)
    }
  }

  @Test("A code of Google's contract allows exactly the configured number of attempts")
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

  @Test("An API key issues the configured number of codes per day; an existing uuid does not count")
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
      // The sentence names the quota, and the log the key once.
      #expect(String(decoding: refused.body, as: UTF8.self).contains("quota of 2 codes a day"))
      _ = try await server.admin(VerificationRoute.issue, #"{"testType":"confirmed"}"#)
      let lines = server.log.errors.filter { $0.contains("quota of 2 codes") }
      #expect(lines.count == 1 && lines[0].contains("API key"), "\(server.log.errors)")
      server.clock.advance(by: 86_400)
      _ = try await server.issue()
    }
  }

  @Test("Wrong API keys count against the budget of their address only")
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
      let blocked = try await server.post(
        path, "{}", headers: ["X-API-Key": "x", "X-Forwarded-For": "192.0.2.1"])
      #expect(blocked.refusal == "429 quota_exceeded")
      let right = try await server.admin(path, "{}", headers: ["X-Forwarded-For": "192.0.2.1"])
      #expect(right.refusal == "400 unparsable_request")
      let other = try await server.admin(path, "{}", headers: ["X-Forwarded-For": "192.0.2.2"])
      #expect(other.refusal == "400 unparsable_request")
    }
  }

  @Test(
    "A wrong key of the health authority's systems has one budget for all routes, statistics included"
  )
  func wrongKeysOfRoutes() async throws {
    try await RunningServer.run(in: folder.url, attempts: AttemptLimits(perAddress: 2)) {
      server async throws in
      let wrong = ["X-API-Key": "x"]
      #expect(
        try await server.post(VerificationRoute.issue, "{}", headers: wrong).status == 401)
      #expect(try await server.get(VerificationRoute.statistics, headers: wrong).status == 401)
      #expect(try await server.get(VerificationRoute.statistics, headers: wrong).status == 429)
      #expect(
        try await server.post(VerificationRoute.issue, "{}", headers: wrong).status == 429)
    }
  }

  @Test("X-Forwarded-For is used only if a trusted proxy sent it")
  func forwarded() async throws {
    let limits = AttemptLimits(perAddress: 2)
    for (proxies, shared) in [([], true), (["127.0.0.0/8"], false)] as [([String], Bool)] {
      let folder = try TemporaryFolder()
      try await RunningServer.run(
        in: folder.url, attempts: limits,
        configure: { $0.trustedProxies = try #require(TrustedProxies(proxies)) }
      ) { server async throws in
        for number in 0..<3 {
          let response = try await server.redeem(
            "A1B2C3", headers: ["X-Forwarded-For": "198.51.100.\(number)"])
          #expect(response.status == (shared && number == 2 ? 429 : 404))
        }
      }
    }
  }
}
