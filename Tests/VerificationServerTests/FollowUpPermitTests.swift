// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Permits for the keys of the following days")
struct FollowUpPermitTests {
  private static let hmac = Data(repeating: 1, count: 32)
  private static let day: TimeInterval = 86_400

  let bench: VerificationBench

  init() throws {
    bench = try VerificationBench()
  }

  private func permit(keyHMAC: Data = Self.hmac) async throws -> String {
    let code = try await bench.code()
    let response = try await bench.redeemer().response(
      to: code, keyHMAC: keyHMAC, wantsFollowUp: true)
    return try #require(response?.followUp)
  }

  private func token(_ permit: String, _ keyHMAC: Data = Self.hmac) async throws -> String? {
    try await bench.redeemer().response(toPermit: permit, keyHMAC: keyHMAC)?.accessToken
  }

  @Test("Without a request for a permit, and with a permit, none is returned")
  func onlyOnRequest() async throws {
    let code = try await bench.code()
    let response = try await bench.redeemer().response(
      to: code, keyHMAC: Self.hmac, wantsFollowUp: false)
    #expect(response != nil && response?.followUp == nil)
    let permit = try await permit()
    bench.clock.advance(by: Self.day)
    let next = try await bench.redeemer().response(toPermit: permit, keyHMAC: Self.hmac)
    #expect(next != nil && next?.followUp == nil)
  }

  @Test("A permit gives a token from the next day on until it expires")
  func lifetime() async throws {
    let permit = try await permit()
    #expect(try await token(permit) == nil)
    let issued = bench.clock.now
    bench.clock.advance(
      by: Date(unixDay: issued.unixDay + 1).timeIntervalSince(issued))
    let grant = try await bench.grant(of: try #require(try await token(permit)))
    #expect(grant.reportType == "confirmed")
    #expect(grant.symptomOnsetInterval == 2_999_952)
    #expect(grant.keyHMAC == Self.hmac)
    #expect(grant.issuedAt == bench.clock.now)
    let end = issued.addingTimeInterval(VerificationLimit.followUpSeconds)
    bench.clock.advance(by: end.timeIntervalSince(bench.clock.now) - 1)
    #expect(try await token(permit) != nil)
    bench.clock.advance(by: 1)
    #expect(try await token(permit) == nil)
  }

  @Test("All tokens of a day have one ID, of which the key server accepts one upload")
  func oneUploadADay() async throws {
    let permit = try await permit()
    var ids: [String] = []
    for _ in 1...3 {
      bench.clock.advance(by: Self.day)
      let first = try await bench.grant(of: try #require(try await token(permit)))
      let other = try await bench.grant(
        of: try #require(try await token(permit, Data(repeating: 9, count: 32))))
      #expect(first.tokenID == other.tokenID)
      #expect(UUID(uuidString: first.tokenID) != nil)
      ids.append(first.tokenID)
    }
    #expect(Set(ids).count == 3)
  }

  @Test("A repeated request gets a permit with the same IDs, and another code one with other IDs")
  func repeatedRequest() async throws {
    let code = try await bench.code()
    var ids: [String] = []
    var texts: [String] = []
    for _ in 1...2 {
      let response = try await bench.redeemer().response(
        to: code, keyHMAC: Self.hmac, wantsFollowUp: true)
      texts.append(try #require(response?.followUp))
    }
    texts.append(try await permit())
    bench.clock.advance(by: Self.day)
    for text in texts {
      ids.append(try await bench.grant(of: try #require(try await token(text))).tokenID)
    }
    #expect(ids[0] == ids[1])
    #expect(ids[0] != ids[2])
  }

  @Test("The route exchanges a permit; without ekeyhmac the response is 400")
  func route() async throws {
    let folder = try TemporaryFolder()
    try await RunningServer.run(in: folder.url) { server in
      let hmac = Self.hmac.base64EncodedString()
      let code = try await server.newCode()
      let first = try await server.post(
        VerificationRoute.accessToken,
        #"{"data":{"code":"\#(code)","ekeyhmac":"\#(hmac)","wantsFollowUp":true}}"#)
      let result = try JSONDecoder().decode(
        CallableResponse<AccessTokenResponse>.self, from: first.body
      ).result
      let permit = try #require(result.followUp)
      let request = #"{"data":{"followUp":"\#(permit)","ekeyhmac":"\#(hmac)"}}"#
      #expect(try await server.post(VerificationRoute.accessToken, request).status == 404)
      server.clock.advance(by: Self.day)
      let next = try await server.post(VerificationRoute.accessToken, request)
      #expect(next.status == 200)
      #expect(next.body.count == first.body.count)
      #expect(try await server.grant(of: next).keyHMAC == Self.hmac)
      let unbound = #"{"data":{"followUp":"\#(permit)"}}"#
      #expect(try await server.post(VerificationRoute.accessToken, unbound).status == 400)
    }
  }

  @Test("A changed permit, and one under another secret, give no token")
  func forged() async throws {
    let permit = try await permit()
    bench.clock.advance(by: Self.day)
    #expect(try await token(permit) != nil)
    for position in permit.indices where permit[position] != "A" {
      var changed = permit
      changed.replaceSubrange(position...position, with: "A")
      #expect(try await token(changed) == nil)
    }
    for text in ["", "A", "no permit", String(repeating: "A", count: 200)] {
      #expect(try await token(text) == nil)
    }
    let others = try #require(CodeKeys(codeHashKey: Array(repeating: 9, count: 32)))
    let redeemer = bench.redeemer(keys: others)
    #expect(try await redeemer.response(toPermit: permit, keyHMAC: Self.hmac) == nil)
  }
}
