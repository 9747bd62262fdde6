// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// Malformed bodies of every POST route, with the error at every position.
@Suite("Malformed requests")
struct BadInputTests {
  /// A valid POST: its path, body and credential.
  private struct Request {
    let path: String
    let body: String
    /// True for routes of Google's contract, which reject unknown fields.
    var isStrict: Bool { path.hasPrefix("/api/") }

    func headers(_ server: RunningServer) -> [String: String] {
      guard isStrict else { return [VerificationRoute.apiTokenHeader: RunningServer.apiToken] }
      let isDevice = GoogleRouteTests.deviceRoutes.contains(path)
      return ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
    }
  }

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ test: (RunningServer, [Request]) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url,
      attempts: AttemptLimits(perAddress: 100_000, perCode: 1_000, total: 200_000),
      configure: {
        $0.policy.allowsUserReport = true
        $0.policy.allowsGeneratedSMS = true
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL", template: "[code]")
      }
    ) { server async throws in try await test(server, try await Self.requests(to: server)) }
  }

  /// Requests with every field of each route, so that each field is made invalid once.
  private static func requests(to server: RunningServer) async throws -> [Request] {
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    let issued = try await server.issue()
    let token = try await server.verified(try await server.issue().code).token
    let request = """
      {"testType":"confirmed","symptomDate":"2027-01-10","testDate":"2027-01-12","tzOffset":0,
       "phone":"+48123456789","smsTemplateLabel":"Default SMS template","externalIssuerID":"a",
       "uuid":"","onlyGenerateSMS":true,"padding":"AAAA"}
      """
    let report = """
      {"testDate":"2027-01-15","symptomDate":"2027-01-14","phone":"+48123456789","tzOffset":60,
       "nonce":"\(UserReportTests.nonce)","padding":"AAAA"}
      """
    return [
      Request(
        path: VerificationRoute.generateCode,
        body:
          #"{"data":{"testType":"confirmed","symptomDate":"2027-01-10"},"padding":"AAAA"}"#),
      Request(
        path: VerificationRoute.generateCodesBatch,
        body: #"{"data":{"duration":1800,"numberOfCodes":3},"padding":"AAAA"}"#),
      Request(
        path: VerificationRoute.accessToken,
        body: """
          {"data":{"code":"\(try await server.newCode())","ekeyhmac":"\(hmac)"},"padding":"AAAA"}
          """),
      Request(path: VerificationRoute.issue, body: request),
      Request(path: VerificationRoute.batchIssue, body: #"{"codes":[\#(request)],"padding":"A"}"#),
      Request(
        path: VerificationRoute.verify,
        body: #"{"code":"\#(issued.code)","accept":["confirmed"],"nonce":"AAAA","padding":"A"}"#),
      Request(
        path: VerificationRoute.certificate,
        body: #"{"token":"\#(token)","ekeyhmac":"\#(hmac)","padding":"AAAA"}"#),
      Request(
        path: VerificationRoute.checkCodeStatus,
        body: #"{"uuid":"\#(issued.uuid)","padding":"AAAA"}"#),
      Request(
        path: VerificationRoute.expireCode, body: #"{"uuid":"\#(issued.uuid)","padding":"AAAA"}"#),
      Request(path: VerificationRoute.userReport, body: report),
    ]
  }

  /// Sends all variants at once.
  private func expectAll(
    _ status: Int, _ variants: [InvalidJSONVariants.Variant], of request: Request,
    at server: RunningServer
  ) async throws {
    // A refusal takes as long as one of the latest successes, which on a busy machine is seconds.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for variant in variants {
        group.addTask {
          let response = try await server.post(
            request.path, String(decoding: variant.json, as: UTF8.self),
            headers: request.headers(server))
          #expect(response.status == status, "\(request.path): \(variant)")
          guard status == 400, request.isStrict else { return }
          #expect(response.refusal == "400 unparsable_request", "\(request.path): \(variant)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("A value of a wrong type at any position is rejected with 400, and nothing is spent")
  func wrongTypes() async throws {
    try await run { server, requests in
      for request in requests {
        let variants = try InvalidJSONVariants.wrongTypes(of: Data(request.body.utf8))
        #expect(variants.count >= 8)
        try await expectAll(400, variants, of: request, at: server)
      }
      for request in requests {
        let good = try await server.post(
          request.path, request.body, headers: request.headers(server))
        #expect(good.status == 200, "\(request.path)")
      }
    }
  }

  @Test("A repeated field in any object is rejected with 400 in both contracts")
  func repeatedFields() async throws {
    try await run { server, requests in
      for request in requests {
        let variants = try InvalidJSONVariants.repeatedFields(of: Data(request.body.utf8))
        #expect(!variants.isEmpty)
        try await expectAll(400, variants, of: request, at: server)
      }
    }
  }

  /// Documentation/Decisions/0016-unknown-and-duplicate-fields.md gives the reason.
  @Test("An unknown field is rejected with 400 in Google's contract and ignored in ProteGO Safe's")
  func unknownFields() async throws {
    try await run { server, requests in
      for request in requests {
        let variants = try InvalidJSONVariants.unknownFields(of: Data(request.body.utf8))
        #expect(!variants.isEmpty)
        try await expectAll(request.isStrict ? 400 : 200, variants, of: request, at: server)
      }
    }
  }

  @Test(
    "A body of ten million bytes is rejected with 413 and another content type with 415 on every route"
  )
  func tooMuch() async throws {
    try await run { server, requests in
      for request in requests {
        let headers = request.headers(server)
        let huge = try await RawPost(port: server.port, path: request.path, headers: headers)
          .answer(sending: Data(repeating: 0x20, count: 10_000_000))
        #expect(huge.status == 413, "\(request.path)")
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
          let response = try await server.post(
            request.path, request.body, contentType: type, headers: headers)
          #expect(response.status == 415, "\(request.path) \(type)")
        }
      }
    }
  }
}
