// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// Run by `make prove`: thousands of samples take minutes.
@Suite("Proof: times of codes and reports", .enabled(if: TimingProof.samples != nil), .serialized)
struct ProvenCodeTimesTests {
  private let folder: TemporaryFolder
  private static let limits = AttemptLimits(
    perAddress: 1_000_000, perCode: 1_000_000, total: 1_000_000, issuesPerApiKey: 1_000_000)
  /// With the large total, few codes may be live.
  private static let usedCodes = 20

  init() throws {
    folder = try TemporaryFolder()
  }

  private func expectAlike(
    _ requests: [(kind: Bool, bytes: Data)], _ server: RunningServer, _ name: String
  ) async throws {
    let times = try await TimingProof.times(of: requests, port: server.port)
    let area = TimingProof.area(try #require(times[true]), try #require(times[false]))
    print("area under the curve, \(name): \(area)")
    #expect(area <= TimingProof.areaMax)
  }

  @Test("A PIN that another user used and an unknown PIN cannot be told apart")
  func pins() async throws {
    let samples = try #require(TimingProof.samples)
    try await RunningServer.run(in: folder.url, attempts: Self.limits) { server async throws in
      var used: [String] = []
      for _ in 0..<Self.usedCodes { used.append(try await server.newCode()) }
      let length = used[0].count
      for code in used {
        let mine = Data(repeating: 1, count: 32).base64EncodedString()
        #expect(try await server.redeem(code, ekeyhmac: mine).status == 200)
      }
      let other = Data(repeating: 2, count: 32).base64EncodedString()
      func request(_ code: String) throws -> Data {
        let body = CallableRequest(data: AccessTokenRequest(code: code, ekeyhmac: other))
        return TimingProof.request(VerificationRoute.accessToken, try JSONEncoder().encode(body))
      }
      var requests: [(kind: Bool, bytes: Data)] = []
      for number in 0..<samples {
        requests.append((true, try request(used[number % used.count])))
        let unknown = VerificationCode.drawn(count: length, from: SystemRandomness())
        requests.append((false, try request(unknown.characters)))
      }
      try await expectAlike(requests, server, "used and unknown PINs")
    }
  }

  @Test("A code of Google's contract that was used and an unknown one cannot be told apart")
  func codes() async throws {
    let samples = try #require(TimingProof.samples)
    try await RunningServer.run(in: folder.url, attempts: Self.limits) { server async throws in
      var used: [String] = []
      for _ in 0..<Self.usedCodes { used.append(try await server.issue().code) }
      let nonce = Data(repeating: 1, count: 32).base64EncodedString()
      for code in used {
        #expect(try await server.verify(code, nonce: nonce).status == 200)
      }
      func request(_ code: String) -> Data {
        TimingProof.request(
          VerificationRoute.verify, Data(#"{"code":"\#(code)"}"#.utf8),
          headers: ["X-API-Key": server.deviceKey])
      }
      var requests: [(kind: Bool, bytes: Data)] = []
      for number in 0..<samples {
        requests.append((true, request(used[number % used.count])))
        let unknown = try #require(
          ShortCode.drawn(digits: used[0].count, from: SystemRandomness()))
        requests.append((false, request(unknown.characters)))
      }
      try await expectAlike(requests, server, "used and unknown codes")
    }
  }

  @Test("A phone that reported and one that did not cannot be told apart")
  func reports() async throws {
    let samples = try #require(TimingProof.samples)
    var limits = AttemptLimits(perAddress: 1_000_000, issuesPerApiKey: 1_000_000)
    limits.total = 1_000
    try await RunningServer.run(
      in: folder.url, attempts: limits,
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: VaryingSMS(), region: "PL", template: "[code]")
      }
    ) { server async throws in
      func body(_ phone: Int) -> String {
        #"{"testDate":"2027-01-14","phone":"+48\#(100_000_000 + phone)","nonce":"\#(UserReportTests.nonce)"}"#
      }
      for _ in 0..<2 {
        _ = try await server.device(VerificationRoute.userReport, body(0))
      }
      func request(_ phone: Int) -> Data {
        TimingProof.request(
          VerificationRoute.userReport, Data(body(phone).utf8),
          headers: ["X-API-Key": server.deviceKey])
      }
      let requests = (1...samples).flatMap { [(true, request(0)), (false, request($0))] }
      try await expectAlike(requests, server, "phones that reported or not")
    }
  }
}

/// A gateway that takes two to six milliseconds.
private struct VaryingSMS: SMSSending {
  func send(_ message: SMSMessage) async throws(SMSFailure) {
    try? await Task.sleep(for: .microseconds(Int.random(in: 2_000...6_000)))
  }
}
