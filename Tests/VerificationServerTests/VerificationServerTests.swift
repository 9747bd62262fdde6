// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

@Suite("ProteGO Safe contract over HTTP")
struct VerificationServerTests {
  static let hmac = Data(repeating: 1, count: 32).base64EncodedString()
  static let invalid = CallableFailure(.notFound, message: "Invalid code")

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("An operator gets a PIN, and a phone exchanges it for a token, also twice")
  func fromCodeToToken() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode(
        #"{"data":{"testType":"confirmed","symptomDate":"2027-01-10"}}"#)
      let response = try await server.redeem(code, ekeyhmac: Self.hmac)
      #expect(response.status == 200)
      let grant = try await server.grant(of: response)
      #expect(grant.reportType == "confirmed")
      #expect(grant.symptomOnsetInterval == 2_999_232)
      #expect(grant.keyHMAC == Data(repeating: 1, count: 32))
      let again = try await server.redeem(code.lowercased(), ekeyhmac: Self.hmac)
      #expect(again.token == response.token)
    }
  }

  @Test("Requests and responses have the fields of the ProteGO Safe contract")
  func wire() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try object(in: try await server.generate())
      #expect(issued.keys.sorted() == ["padding", "result"])
      let code = try #require(issued["result"] as? String)
      let body = #"{"data":{"code":"\#(code)"}}"#
      let response = try await server.post(VerificationRoute.accessToken, body)
      let redeemed = try object(in: response)
      #expect(redeemed.keys.sorted() == ["padding", "result"])
      #expect((redeemed["result"] as? [String: String])?["accessToken"]?.hasPrefix("eyJ") == true)
      let unknown = try await server.post(VerificationRoute.accessToken, #"{"data":{}}"#)
      let refused = try object(in: unknown)
      #expect(refused.keys.sorted() == ["error", "padding"])
      #expect(
        refused["error"] as? [String: String]
          == ["message": "Invalid code", "status": "NOT_FOUND"])
    }
  }

  private func object(in response: RunningServer.Response) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: response.body) as? [String: Any])
  }

  @Test("A missing, malformed, unknown, used and expired PIN get the same response")
  func invalidCodes() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let used = try await server.newCode()
      _ = try await server.redeem(used, ekeyhmac: Self.hmac)
      let expired = try await server.newCode()
      server.clock.advance(by: 1801)
      let usedLately = try await server.newCode()
      _ = try await server.redeem(usedLately)
      var responses = [
        try await server.redeem(used), try await server.redeem(usedLately, ekeyhmac: Self.hmac),
        try await server.redeem(expired), try await server.redeem("A1B2C3"),
        try await server.redeem("nonsense"), try await server.redeem(""),
      ]
      for body in [
        #"{"data":{}}"#, #"{"data":null}"#, #"{"data":{"code":null}}"#,
        #"{"data":{"kod":"A1B2C3"},"padding":"AAAA","more":1}"#,
      ] {
        responses.append(try await server.post(VerificationRoute.accessToken, body))
      }
      for response in responses {
        #expect(response.status == 404)
        #expect(response.failure == Self.invalid)
        #expect(response.body.count == 1024)
        #expect(response.headers.keys.sorted() == responses[0].headers.keys.sorted())
      }
    }
  }

  @Test("An invalid HMAC is rejected, and the PIN stays valid")
  func badHMAC() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode()
      for length in [31, 33] {
        let hmac = Data(repeating: 1, count: length).base64EncodedString()
        let response = try await server.redeem(code, ekeyhmac: hmac)
        #expect(response.status == 400)
        #expect(response.failure?.error.status == .invalidArgument)
      }
      for hmac in ["", "not base64"] {
        #expect(try await server.redeem(code, ekeyhmac: hmac).status == 400)
      }
      #expect(try await server.redeem(code, ekeyhmac: Self.hmac).status == 200)
    }
  }

  @Test("Without an API token no PIN is issued")
  func apiToken() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for wrong in ["", "an-operators-toke", "an-operators-token2"] {
        let response = try await server.generate(
          headers: [VerificationRoute.apiTokenHeader: wrong])
        #expect(response.status == 403)
        #expect(response.failure?.error.status == .permissionDenied)
      }
      let none = try await server.post(VerificationRoute.generateCode, #"{"data":{}}"#)
      #expect(none.status == 403)
      #expect(try await server.generate().status == 200)
      #expect(try await server.generate(#"{"data":null}"#).status == 200)
    }
  }

  @Test(
    "A PIN is not issued for an invalid test type or date",
    arguments: [
      #"{"data":{"testType":"likely"}}"#, #"{"data":{"testType":""}}"#,
      #"{"data":{"symptomDate":"2027-01-16"}}"#, #"{"data":{"symptomDate":"yesterday"}}"#,
      #"{"data":{"symptomDate":1}}"#, #"{"data":"#, "", "[]", #"{"daten":{}}"#,
    ])
  func badFinding(body: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let response = try await server.generate(body)
      #expect(response.status == 400)
      #expect(response.failure?.error.status == .invalidArgument)
      #expect(try await server.generate().status == 200)
    }
  }

  @Test("A body that is not JSON, of another type or too large is rejected, and the next is served")
  func badBodies() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let route = VerificationRoute.accessToken
      let code = try await server.newCode()
      #expect(try await server.post(route, "{").status == 400)
      #expect(try await server.post(route, #"{"data":{"code":5}}"#).status == 400)
      let good = #"{"data":{"code":"\#(code)"}}"#
      #expect(try await server.post(route, good, contentType: nil).status == 415)
      #expect(try await server.post(route, good, contentType: "text/plain").status == 415)
      let limit = VerificationLimit.bodyBytesMax
      let rest = String(repeating: " ", count: limit + 1 - good.utf8.count)
      #expect(try await server.post(route, good + rest).status == 413)
      #expect(try await server.post("/nothing", good).status == 404)
      let fits = good + rest.dropLast()
      #expect(
        try await server.post(route, fits, contentType: "application/json; charset=utf-8")
          .status == 200)
      #expect(try await server.post(route, good + rest.dropLast(2)).status == 200)
    }
  }

  @Test("Of two phones with one PIN and different keys one gets a token")
  func twoPhones() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for _ in 0..<10 {
        let code = try await server.newCode()
        let other = Data(repeating: 2, count: 32).base64EncodedString()
        async let one = server.redeem(code, ekeyhmac: Self.hmac)
        async let two = server.redeem(code, ekeyhmac: other)
        #expect(try await [one.status, two.status].sorted() == [200, 404])
      }
    }
  }

  @Test("A decoy looks like a success and has no effect")
  func decoys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let chaff = ["X-Chaff": "1"]
      let code = try await server.newCode()
      let decoy = try await server.redeem(code, headers: chaff)
      let real = try await server.redeem(code, ekeyhmac: Self.hmac)
      #expect(decoy.status == real.status)
      #expect(decoy.body.count == real.body.count)
      #expect(decoy.headers.keys.sorted() == real.headers.keys.sorted())
      let noToken = try #require(decoy.token)
      let token = try #require(real.token)
      #expect(abs(noToken.count - token.count) < 120)
      await #expect(throws: UploadTokenRefusal.self) {
        try await server.verifier.verified(UnverifiedUploadToken(noToken), at: server.clock.now)
      }
      let noCode = try #require(try await server.generate(headers: chaff).code)
      #expect(VerificationCode(noCode) != nil)
      #expect(try await server.redeem(noCode).status == 404)
    }
  }

  @Test("The log contains neither addresses nor requests")
  func quietLog() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.newCode()
      let response = try await server.redeem(code, ekeyhmac: Self.hmac)
      _ = try await server.redeem(code)
      let jti = try await server.grant(of: response).tokenID
      let lines = server.log.lines
      #expect(!lines.isEmpty)
      for line in lines {
        for secret in [code, jti, Self.hmac, RunningServer.apiToken, response.token ?? ""] {
          #expect(!line.contains(secret))
        }
        #expect(!line.contains("127.0.0.1") || line.contains("started and listening"))
      }
    }
  }

  @Test("More than a thousand expired codes are removed in one run, and no live code")
  func cleanup() async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    for number in 0..<1_201 {
      _ = try await storage.issue(
        CodeStorageTests.code(number, expiresIn: 60), at: VerificationBench.start)
    }
    let live = CodeStorageTests.code(5_000, expiresIn: 2 * 86_400)
    _ = try await storage.issue(live, at: VerificationBench.start)
    try await RunningServer.run(in: folder.url) { server async throws in
      server.clock.advance(by: 61 + VerificationLimit.expiredCodeKeptSeconds)
      try await server.server.removeExpired()
      #expect(
        try await storage.removeExpired(at: VerificationBench.start + 61, atMost: 10_000) == 0)
      #expect(try await storage.liveCode(live.hash, at: server.clock.now) != nil)
    }
  }

  @Test(
    "A running server removes expired codes periodically",
    .timeLimit(.minutes(Patience.minutes)))
  func cleanupByClock() async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let code = CodeStorageTests.code(1, expiresIn: 60)
    try await RunningServer.run(in: folder.url) { server async throws in
      _ = try await storage.issue(code, at: VerificationBench.start)
      server.clock.advance(by: VerificationLimit.expiredCodeKeptSeconds)
      // With the start as the current time the storage finds the row until it is removed.
      while try await storage.liveCode(code.hash, at: VerificationBench.start) != nil {
        server.clock.advance(by: VerificationLimit.cleanupPeriodSeconds)
        await Task.yield()
      }
    }
  }

  @Test("An invalid configuration is rejected, and the error names the field")
  func badConfiguration() throws {
    let bench = try VerificationBench()
    let good = VerificationServerConfiguration(
      databaseFile: folder.path("x.sqlite"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: bench.signing)
    _ = try good.validatedKeys()
    for (number, window) in [(1, 1), (2, 2), (999_999, 86_399), (1_000_000, 86_400)] {
      var most = good
      most.attempts = AttemptLimits(
        perAddress: number, perSubnet: number, perNetwork: number, perCode: number, total: number,
        issuesPerApiKey: number, windowSeconds: window)
      _ = try most.validatedKeys()
    }
    let spoilt: [(String, (inout VerificationServerConfiguration) -> Void)] = [
      ("codeHashKey", { $0.codeHashKey.removeLast() }),
      ("codeHashKey", { $0.codeHashKey.append(0) }),
      ("codeLifetime", { $0.codeLifetime = 59 }), ("codeLifetime", { $0.codeLifetime = 86_401 }),
      ("tokenLifetime", { $0.tokenLifetime = 1_799 }),
      ("tokenLifetime", { $0.tokenLifetime = 86_401 }),
      ("attempts", { $0.attempts.perCode = 0 }), ("attempts", { $0.attempts.total = 0 }),
      ("attempts.perSubnet", { $0.attempts.perSubnet = 0 }),
      ("attempts.perNetwork", { $0.attempts.perNetwork = 1_000_001 }),
      ("attempts", { $0.attempts.issuesPerApiKey = 0 }),
      ("attempts.perAddress", { $0.attempts.perAddress = 1_000_001 }),
      ("attempts.windowSeconds", { $0.attempts.windowSeconds = 0 }),
      ("attempts.windowSeconds", { $0.attempts.windowSeconds = 86_401 }),
      ("policy.shortCodeDigits", { $0.policy.shortCodeDigits = 5 }),
      ("policy.shortCodeDigits", { $0.policy.shortCodeDigits = 12 }),
      ("policy.shortCodeLifetime", { $0.policy.shortCodeLifetime = 59 }),
      ("policy.shortCodeLifetime", { $0.policy.shortCodeLifetime = 3_601 }),
      ("policy.longCodeCharacters", { $0.policy.longCodeCharacters = 11 }),
      ("policy.longCodeCharacters", { $0.policy.longCodeCharacters = 17 }),
      ("policy.longCodeLifetime", { $0.policy.longCodeLifetime = 899 }),
      ("policy.longCodeLifetime", { $0.policy.longCodeLifetime = 86_401 }),
      ("policy.verificationTokenLifetime", { $0.policy.verificationTokenLifetime = 86_399 }),
      ("policy.certificateLifetime", { $0.policy.certificateLifetime = 3_601 }),
    ]
    for (field, spoil) in spoilt {
      var configuration = good
      spoil(&configuration)
      #expect {
        try configuration.validatedKeys()
      } throws: {
        "\($0)".hasPrefix(field)
      }
    }
    var dumped = ""
    dump(good, to: &dumped)
    #expect(dumped == "- VerificationServerConfiguration(127.0.0.1:0)\n")
  }
}
