// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite("Netmasks and API tokens")
struct RequestGateTests {
  /// The allowed networks of the servers in these tests, and the address of the proxy.
  private static let inside = ["192.0.2.64/26", "2001:db8:0:10::/60"]
  private static let proxy = "127.0.0.1"

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A server with these networks for apps and operators, behind `proxies`.
  private func run(
    apps: [String]? = nil, operators: [String]? = nil, proxies: [String] = [proxy],
    attempts: AttemptLimits = AttemptLimits(perAddress: 1_000),
    _ test: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url, attempts: attempts,
      configure: {
        $0.trustedProxies = try #require(TrustedProxies(proxies))
        if let apps { $0.applicationNetmasks = try #require(Netmasks(apps)) }
        if let operators { $0.operatorNetmasks = try #require(Netmasks(operators)) }
      }, test)
  }

  private func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

  private func expectDenied(
    _ response: RunningServer.Response, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(response.status == 403, sourceLocation: sourceLocation)
    #expect(
      response.failure?.error.status == .permissionDenied
        && response.failure?.error.message.isEmpty == false, sourceLocation: sourceLocation)
  }

  @Test(
    "A PIN is exchanged from the apps' networks only, up to their last address")
  func apps() async throws {
    try await run(apps: Self.inside) { server async throws in
      for (address, isInside) in [
        ("192.0.2.63", false), ("192.0.2.64", true), ("192.0.2.127", true), ("192.0.2.128", false),
        ("2001:db8:0:f:ffff:ffff:ffff:ffff", false), ("2001:db8:0:10::", true),
        ("2001:db8:0:1f:ffff:ffff:ffff:ffff", true), ("2001:db8:0:20::", false),
      ] {
        let response = try await server.redeem(
          try await server.newCode(), headers: from(address))
        if isInside { #expect(response.token != nil, "\(address)") } else { expectDenied(response) }
      }
    }
  }

  @Test("A request from another address spends neither the code nor an attempt")
  func spendsNothing() async throws {
    let limits = AttemptLimits(perAddress: 1, perCode: 1)
    try await run(apps: ["192.0.2.1"], attempts: limits) { server async throws in
      let code = try await server.newCode()
      for _ in 0..<3 {
        expectDenied(try await server.redeem(code, headers: from("198.51.100.1")))
        expectDenied(try await server.redeem("ZZZZZ1", headers: from("198.51.100.1")))
      }
      #expect(try await server.redeem(code, headers: from("192.0.2.1")).token != nil)
    }
  }

  @Test(
    "PINs are issued from the operators' networks only, singly and in batches"
  )
  func operators() async throws {
    try await run(operators: Self.inside) { server async throws in
      let batch = #"{"data":{"duration":1800,"numberOfCodes":2}}"#
      for (address, isInside) in [
        ("192.0.2.63", false), ("192.0.2.64", true), ("2001:db8:0:10::1", true),
        ("2001:db8:0:20::", false),
      ] {
        let one = try await server.generate(headers: from(address))
        let many = try await server.post(
          VerificationRoute.generateCodesBatch, batch,
          headers: from(address).merging([
            VerificationRoute.apiTokenHeader: RunningServer.apiToken
          ]) { $1 })
        if isInside {
          #expect(one.code != nil && many.codes?.count == 2, "\(address)")
        } else {
          expectDenied(one)
          expectDenied(many)
        }
      }
    }
  }

  @Test(
    "From another address a valid, a wrong and no API token get the same response and are not counted"
  )
  func noOracle() async throws {
    let limits = AttemptLimits(perAddress: 1)
    try await run(operators: ["192.0.2.1"], attempts: limits) { server async throws in
      let header = VerificationRoute.apiTokenHeader
      var failures: Set<CallableFailure> = []
      for token in [RunningServer.apiToken, "a-wrong-operators-token", ""] {
        for _ in 0..<2 {
          let response = try await server.generate(
            headers: from("198.51.100.1").merging([header: token]) { $1 })
          expectDenied(response)
          failures.insert(try #require(response.failure))
        }
      }
      // From an allowed address a wrong token gets the same response, and is counted.
      let wrong = from("192.0.2.1").merging([header: "a-wrong-operators-token"]) { $1 }
      failures.insert(try #require(try await server.generate(headers: wrong).failure))
      #expect(failures.count == 1)
      #expect(try await server.generate(headers: wrong).status == 429)
    }
  }

  @Test(
    "Without netmasks every address is allowed, also if the netmasks of the other API are set"
  )
  func notSet() async throws {
    try await run { server async throws in
      let code = try #require(try await server.generate(headers: from("198.51.100.1")).code)
      #expect(try await server.redeem(code, headers: from("2001:db8::1")).token != nil)
    }
    try await run(operators: ["192.0.2.1"]) { server async throws in
      #expect(try await server.redeem("ZZZZZ1", headers: from("198.51.100.1")).status == 404)
    }
    try await run(apps: ["192.0.2.1"]) { server async throws in
      #expect(try await server.generate(headers: from("198.51.100.1")).code != nil)
    }
  }

  @Test(
    "Without a trusted proxy the address of the connection counts, whatever the header says"
  )
  func connection() async throws {
    for (networks, isInside) in [("127.0.0.1", true), ("192.0.2.1", false), ("127.0.0.2", false)] {
      try await run(apps: [networks], operators: [networks], proxies: []) { server async throws in
        let code = try await server.generate(headers: from("192.0.2.1"))
        let token = try await server.redeem("ZZZZZ1", headers: from("192.0.2.1"))
        #expect(code.status == (isInside ? 200 : 403) && token.status == (isInside ? 404 : 403))
      }
    }
  }

  @Test("Addresses that a client writes before those of a trusted proxy are ignored")
  func forged() async throws {
    try await run(apps: ["192.0.2.1"], operators: ["192.0.2.1"]) { server async throws in
      let forged = from("192.0.2.1, 198.51.100.1")
      expectDenied(try await server.generate(headers: forged))
      expectDenied(try await server.redeem("ZZZZZ1", headers: forged))
    }
  }

  @Test(
    "A decoy from another address is rejected like a real request, with equal length and headers"
  )
  func decoys() async throws {
    try await run(apps: ["192.0.2.1"], operators: ["192.0.2.1"]) { server async throws in
      let elsewhere = from("198.51.100.1")
      let decoy = elsewhere.merging(["X-Chaff": "1"]) { $1 }
      for (real, pretended) in [
        (
          try await server.redeem("ZZZZZ1", headers: elsewhere),
          try await server.redeem("ZZZZZ1", headers: decoy)
        ),
        (try await server.generate(headers: elsewhere), try await server.generate(headers: decoy)),
      ] {
        expectDenied(pretended)
        #expect(real.failure == pretended.failure && real.body.count == pretended.body.count)
        #expect(Set(real.headers.keys) == Set(pretended.headers.keys))
      }
      #expect(
        try await server.redeem(
          "ZZZZZ1", headers: from("192.0.2.1").merging(["X-Chaff": "1"]) { $1 }
        )
        .token != nil)
    }
  }

  @Test(
    "The netmasks apply to Google's admin and device API, whatever the API key")
  func google() async throws {
    let limits = AttemptLimits(perAddress: 1)
    let (apps, operators) = ("192.0.2.1", "192.0.2.2")
    try await run(apps: [apps], operators: [operators], attempts: limits) { server async throws in
      let issueRequest = #"{"testType":"confirmed"}"#
      let (issue, verify) = (VerificationRoute.issue, VerificationRoute.verify)
      let response = try await server.admin(issue, issueRequest, headers: from(operators))
      let code = try JSONDecoder().decode(IssueResponse.self, from: response.body).code
      let request = #"{"code":"\#(code)"}"#
      for key in [server.adminKey, server.deviceKey, "x", "x"] {
        let headers = from("198.51.100.1").merging(["X-API-Key": key]) { $1 }
        for path in GoogleRouteTests.adminRoutes + GoogleRouteTests.deviceRoutes {
          let refused = try await server.post(path, request, headers: headers)
          #expect(refused.refusal == "401 unauthorized", "\(path)")
        }
      }
      // Each network is allowed for one of the two APIs.
      #expect(try await server.admin(issue, issueRequest, headers: from(apps)).status == 401)
      #expect(try await server.device(verify, request, headers: from(operators)).status == 401)
      #expect(try await server.device(verify, request, headers: from(apps)).status == 200)
    }
  }

  @Test("Only the configured API tokens are accepted")
  func apiTokens() throws {
    let tokens = try APITokens(["first-api-token-1", "second-api-token-2"])
    #expect(tokens.contain("first-api-token-1"))
    #expect(tokens.contain("second-api-token-2"))
    for wrong in [nil, "", "first-api-token-", "first-api-token-11", "First-api-token-1"] {
      #expect(!tokens.contain(wrong))
    }
    let none = try APITokens([])
    #expect(!none.contain("") && !none.contain(nil))
  }

  @Test("API tokens that are too short, too long or too many are rejected by name")
  func apiTokenLimits() throws {
    let lengths = VerificationLimit.apiTokenCharacters
    for (length, isGood) in [
      (lengths.lowerBound - 1, false), (lengths.lowerBound, true), (lengths.upperBound, true),
      (lengths.upperBound + 1, false),
    ] {
      let tokens = try? APITokens([String(repeating: "a", count: length)])
      #expect((tokens != nil) == isGood)
    }
    let one = String(repeating: "a", count: 16)
    for (count, isGood) in [(31, true), (32, true), (33, false)] {
      #expect(((try? APITokens([String](repeating: one, count: count))) != nil) == isGood)
    }
  }
}
