import CallableEnvelope
import Foundation
import QuietHTTP
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// Documentation/SeedContract.md 2.6 and 3.8, VerificationServer.md 8.4.
@Suite("Seed 2.1, 2.4, 2.5 and 9.3: who asks from elsewhere is refused")
struct NetmaskTests {
  /// Whom the stories' servers answer, and where a proxy stands that says who asks.
  private static let inside = ["192.0.2.64/26", "2001:db8:0:10::/60"]
  private static let proxy = "127.0.0.1"

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A server for the apps and the operators in the given networks, behind `proxies`.
  private func run(
    apps: [String]? = nil, operators: [String]? = nil, proxies: [String] = [proxy],
    attempts: AttemptLimits = AttemptLimits(perAddress: 1_000),
    _ story: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url, attempts: attempts,
      configure: {
        $0.trustedProxies = try #require(TrustedProxies(proxies))
        if let apps { $0.applicationNetmasks = try #require(Netmasks(apps)) }
        if let operators { $0.operatorNetmasks = try #require(Netmasks(operators)) }
      }, story)
  }

  private func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

  private func expectDenied(
    _ answer: RunningServer.Answer, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(answer.status == 403, sourceLocation: sourceLocation)
    #expect(
      answer.failure?.error.status == .permissionDenied
        && answer.failure?.error.message.isEmpty == false, sourceLocation: sourceLocation)
  }

  @Test(
    "Seed 2.1: a code is changed for a token inside the apps' networks, up to their last address")
  func apps() async throws {
    try await run(apps: Self.inside) { server async throws in
      for (address, isInside) in [
        ("192.0.2.63", false), ("192.0.2.64", true), ("192.0.2.127", true), ("192.0.2.128", false),
        ("2001:db8:0:f:ffff:ffff:ffff:ffff", false), ("2001:db8:0:10::", true),
        ("2001:db8:0:1f:ffff:ffff:ffff:ffff", true), ("2001:db8:0:20::", false),
      ] {
        let answer = try await server.redeem(
          try await server.newCode(), headers: from(address))
        if isInside { #expect(answer.token != nil, "\(address)") } else { expectDenied(answer) }
      }
    }
  }

  @Test("Seed 2.1: a refusal from elsewhere spends neither the code nor an attempt")
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
    "Seed 2.4 and 2.5: codes are issued inside the operators' networks only, one by one and in batches"
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
    "Seed 2.4: from elsewhere a good api-token, a wrong one and none get one answer, and cost nothing"
  )
  func noOracle() async throws {
    let limits = AttemptLimits(perAddress: 1)
    try await run(operators: ["192.0.2.1"], attempts: limits) { server async throws in
      let header = VerificationRoute.apiTokenHeader
      var said: Set<CallableFailure> = []
      for token in [RunningServer.apiToken, "a-wrong-operators-token", ""] {
        for _ in 0..<2 {
          let answer = try await server.generate(
            headers: from("198.51.100.1").merging([header: token]) { $1 })
          expectDenied(answer)
          said.insert(try #require(answer.failure))
        }
      }
      // Inside a wrong token hears the same, and is counted.
      let wrong = from("192.0.2.1").merging([header: "a-wrong-operators-token"]) { $1 }
      said.insert(try #require(try await server.generate(headers: wrong).failure))
      #expect(said.count == 1)
      #expect(try await server.generate(headers: wrong).status == 429)
    }
  }

  @Test(
    "Seed 2.1 and 2.4: where nothing is set everybody may ask, and where one is set the others still may"
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
    "Seed 2.1 and 2.4: without a trusted proxy the connection's address counts, whatever a header says"
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

  @Test("Seed 2.1 and 2.4: what a client writes before a trusted proxy's word lets it in nowhere")
  func forged() async throws {
    try await run(apps: ["192.0.2.1"], operators: ["192.0.2.1"]) { server async throws in
      let forged = from("192.0.2.1, 198.51.100.1")
      expectDenied(try await server.generate(headers: forged))
      expectDenied(try await server.redeem("ZZZZZ1", headers: forged))
    }
  }

  @Test(
    "Seed 2.1 and 2.4: a decoy from elsewhere is refused as the real one is, in the same length and headers"
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
    "Google's admin and device API are for the same networks, and from elsewhere no key is right")
  func google() async throws {
    let limits = AttemptLimits(perAddress: 1)
    let (apps, operators) = ("192.0.2.1", "192.0.2.2")
    try await run(apps: [apps], operators: [operators], attempts: limits) { server async throws in
      let order = #"{"testType":"confirmed"}"#
      let (issue, verify) = (VerificationRoute.issue, VerificationRoute.verify)
      let answer = try await server.admin(issue, order, headers: from(operators))
      let code = try JSONDecoder().decode(IssueAnswer.self, from: answer.body).code
      let question = #"{"code":"\#(code)"}"#
      for key in [server.adminKey, server.deviceKey, "x", "x"] {
        let headers = from("198.51.100.1").merging(["X-API-Key": key]) { $1 }
        for path in GoogleRequestTests.adminRoutes + GoogleRequestTests.deviceRoutes {
          let refused = try await server.post(path, question, headers: headers)
          #expect(refused.refusal == "401 unauthorized", "\(path)")
        }
      }
      // A network is for one of the two.
      #expect(try await server.admin(issue, order, headers: from(apps)).status == 401)
      #expect(try await server.device(verify, question, headers: from(operators)).status == 401)
      #expect(try await server.device(verify, question, headers: from(apps)).status == 200)
    }
  }
}
