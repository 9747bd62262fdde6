// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("The codes of a key of kind canary")
struct CanaryCodeTests {
  private static let pin = #"{"testType":"confirmed","codeForm":"pin"}"#
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func issue(
    _ body: String, _ key: String, _ server: RunningServer,
    at path: String = VerificationRoute.issue
  ) async throws -> RunningServer.Response {
    try await server.post(path, body, headers: ["X-API-Key": key])
  }

  private func code(_ key: String, _ server: RunningServer) async throws -> String {
    let response = try await issue(Self.pin, key, server)
    return try JSONDecoder().decode(IssueResponse.self, from: response.body).code
  }

  @Test("Their tokens are those of synthetic phones, also after the key was revoked; no others are")
  func marked() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let key = try await server.newKey(.canary)
      let (first, second) = (try await code(key, server), try await code(key, server))
      #expect(try await server.grant(of: server.redeem(first)).isCanary)
      _ = try await server.apiKeys().revoke(String(key.prefix(16)))
      #expect(try await server.grant(of: server.redeem(second)).isCanary)
      let real = try await server.issue(Self.pin).code
      #expect(try await server.grant(of: server.redeem(real)).isCanary == false)
      #expect(try await server.grant(of: server.redeem(server.newCode())).isCanary == false)
    }
  }

  @Test("They give no permit for the following days, whose tokens would have no mark")
  func noPermit() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      func redeemed(_ code: String) async throws -> String {
        let hmac = RunningServer.keyHMAC.base64EncodedString()
        let body = #"{"data":{"code":"\#(code)","ekeyhmac":"\#(hmac)","wantsFollowUp":true}}"#
        let response = try await server.post(VerificationRoute.accessToken, body)
        #expect(response.token != nil)
        return String(decoding: response.body, as: UTF8.self)
      }
      let key = try await server.newKey(.canary)
      #expect(try await !redeemed(code(key, server)).contains("followUp"))
      #expect(try await redeemed(server.issue(Self.pin).code).contains("followUp"))
    }
  }

  @Test("They cannot be verified by Google's contract, whose certificates have no mark")
  func noCertificate() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let key = try await server.newKey(.canary)
      #expect(try await server.verify(code(key, server)).refusal == "400 code_invalid")
      #expect(try await server.verify(server.issue(Self.pin).code).status == 200)
    }
  }

  @Test("A request with a phone number is refused, and sends no text; a batch is refused")
  func noPhone() async throws {
    let sender = CollectedSMS()
    try await RunningServer.run(
      in: folder.url, configure: { $0.sms = SMSConfiguration(sender: sender, region: "PL") }
    ) { server async throws in
      let key = try await server.newKey(.canary)
      let body = #"{"testType":"confirmed","phone":"+48123456789"}"#
      let refused = try await issue(body, key, server)
      #expect(refused.refusal == "400 unparsable_request")
      #expect(String(decoding: refused.body, as: UTF8.self).contains("leave out phone"))
      #expect(await sender.messages.isEmpty)
      let batch = try await issue(
        #"{"codes":[\#(Self.pin)]}"#, key, server, at: VerificationRoute.batchIssue)
      #expect(batch.status == 401)
    }
  }

  @Test("A canary has a small quota of its own, and a smaller one if that of all keys is smaller")
  func quota() async throws {
    for (limit, expected) in [(20_000, VerificationLimit.canaryCodesPerDay), (2, 2)] {
      let folder = try TemporaryFolder()
      try await RunningServer.run(in: folder.url, attempts: AttemptLimits(issuesPerApiKey: limit)) {
        server async throws in
        let key = try await server.newKey(.canary)
        for _ in 0..<expected { #expect(try await issue(Self.pin, key, server).status == 200) }
        let refused = try await issue(Self.pin, key, server)
        #expect(refused.refusal == "429 quota_exceeded")
        #expect(
          String(decoding: refused.body, as: UTF8.self).contains("quota of \(expected) codes"))
        _ = try await server.issue(Self.pin)
      }
    }
  }

  @Test(
    "The numbers of a day do not count them, issued or redeemed",
    arguments: StorageImplementation.allCases)
  func uncounted(implementation: StorageImplementation) async throws {
    let storage = try await implementation.open(in: folder)
    let (now, id) = (Date(unixSecond: 1_800_000_000), APIKeyID(text: "0123456789abcdef"))
    try await storage.add(
      APIKeyRecord(
        id: id, kind: .canary, name: "canary", hash: Data(repeating: 1, count: 32), createdAt: now))
    let hashes = [
      CodeHash(bytes: Data(repeating: 2, count: 32)),
      CodeHash(bytes: Data(repeating: 3, count: 32)),
    ]
    for (hash, issuer) in zip(hashes, [id, nil]) {
      var code = HashedCode(
        hash: hash, testResult: TestResult(testType: .confirmed),
        expiresAt: now.addingTimeInterval(60))
      code.issuer = issuer
      #expect(try await storage.issue(code, at: now) == .stored)
      #expect(try await storage.code(hash)?.isCanary == (issuer != nil))
      let redemption = Redemption(
        binding: Data([1]), sealedToken: SealedToken(bytes: Data([2])))
      _ = try await storage.redeem(hash, as: redemption, at: now)
    }
    let day = try #require(try await storage.counts().first)
    #expect((day.issued, day.claimed) == (1, 1))
  }
}
