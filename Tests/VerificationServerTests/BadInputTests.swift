import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// What every POST of the verification server refuses, in every place of its body.
@Suite("Verification server: bad input")
struct BadInputTests {
  /// A POST that is all right: its path, a good body and whose credential it needs.
  private struct Question {
    let path: String
    let body: String
    /// Google's contract, in which a field that nobody described is a fault.
    var isStrict: Bool { path.hasPrefix("/api/") }

    func headers(_ server: RunningServer) -> [String: String] {
      guard isStrict else { return [VerificationRoute.apiTokenHeader: RunningServer.apiToken] }
      let isDevice = GoogleRequestTests.deviceRoutes.contains(path)
      return ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
    }
  }

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ story: (RunningServer, [Question]) async throws -> Void
  ) async throws {
    try await RunningServer.run(
      in: folder.url,
      attempts: AttemptLimits(perAddress: 100_000, perCode: 1_000, perApiKey: 100_000),
      configure: {
        $0.policy.allowsUserReport = true
        $0.policy.allowsGeneratedSMS = true
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL", template: "[code]")
      }
    ) { server async throws in try await story(server, try await Self.questions(to: server)) }
  }

  /// Every field that each route describes, so that each of them is spoilt once.
  private static func questions(to server: RunningServer) async throws -> [Question] {
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    let issued = try await server.issue()
    let token = try await server.verified(try await server.issue().code).token
    let order = """
      {"testType":"confirmed","symptomDate":"2027-01-10","testDate":"2027-01-12","tzOffset":0,
       "phone":"+48123456789","smsTemplateLabel":"Default SMS template","externalIssuerID":"a",
       "uuid":"","onlyGenerateSMS":true,"padding":"AAAA"}
      """
    let report = """
      {"testDate":"2027-01-15","symptomDate":"2027-01-14","phone":"+48123456789","tzOffset":60,
       "nonce":"\(UserReportTests.nonce)","padding":"AAAA"}
      """
    return [
      Question(
        path: VerificationRoute.generateCode,
        body:
          #"{"data":{"testType":"confirmed","symptomDate":"2027-01-10"},"padding":"AAAA"}"#),
      Question(
        path: VerificationRoute.generateCodesBatch,
        body: #"{"data":{"duration":1800,"numberOfCodes":3},"padding":"AAAA"}"#),
      Question(
        path: VerificationRoute.accessToken,
        body: """
          {"data":{"code":"\(try await server.newCode())","ekeyhmac":"\(hmac)"},"padding":"AAAA"}
          """),
      Question(path: VerificationRoute.issue, body: order),
      Question(path: VerificationRoute.batchIssue, body: #"{"codes":[\#(order)],"padding":"A"}"#),
      Question(
        path: VerificationRoute.verify,
        body: #"{"code":"\#(issued.code)","accept":["confirmed"],"nonce":"AAAA","padding":"A"}"#),
      Question(
        path: VerificationRoute.certificate,
        body: #"{"token":"\#(token)","ekeyhmac":"\#(hmac)","padding":"AAAA"}"#),
      Question(
        path: VerificationRoute.checkCodeStatus,
        body: #"{"uuid":"\#(issued.uuid)","padding":"AAAA"}"#),
      Question(
        path: VerificationRoute.expireCode, body: #"{"uuid":"\#(issued.uuid)","padding":"AAAA"}"#),
      Question(path: VerificationRoute.userReport, body: report),
    ]
  }

  private func expectAll(
    _ status: Int, _ variants: [SpoiltJSON.Variant], of question: Question,
    at server: RunningServer
  ) async throws {
    for variant in variants {
      let answer = try await server.post(
        question.path, String(decoding: variant.json, as: UTF8.self),
        headers: question.headers(server))
      #expect(answer.status == status, "\(question.path): \(variant)")
      guard status == 400, question.isStrict else { continue }
      #expect(answer.refusal == "400 unparsable_request", "\(question.path): \(variant)")
    }
  }

  @Test("A value of another type is 400 wherever it stands, and nothing is spent")
  func wrongTypes() async throws {
    try await run { server, questions in
      for question in questions {
        let variants = try SpoiltJSON.wrongTypes(of: Data(question.body.utf8))
        #expect(variants.count >= 8)
        try await expectAll(400, variants, of: question, at: server)
      }
      for question in questions {
        let good = try await server.post(
          question.path, question.body, headers: question.headers(server))
        #expect(good.status == 200, "\(question.path)")
      }
    }
  }

  @Test("A field that comes twice is 400 in every object and both contracts")
  func repeatedFields() async throws {
    try await run { server, questions in
      for question in questions {
        let variants = try SpoiltJSON.repeatedFields(of: Data(question.body.utf8))
        #expect(!variants.isEmpty)
        try await expectAll(400, variants, of: question, at: server)
      }
    }
  }

  /// Documentation/Decisions/0016-what-the-seed-contract-overlooks.md.
  @Test("A field that nobody described is 400 in Google's contract, and overlooked in the seed's")
  func unknownFields() async throws {
    try await run { server, questions in
      for question in questions {
        let variants = try SpoiltJSON.unknownFields(of: Data(question.body.utf8))
        #expect(!variants.isEmpty)
        try await expectAll(question.isStrict ? 400 : 200, variants, of: question, at: server)
      }
    }
  }

  @Test("Ten million bytes are not waited for, and another content type is 415 on every route")
  func tooMuch() async throws {
    try await run { server, questions in
      for question in questions {
        let headers = question.headers(server)
        let huge = try await RawPost(port: server.port, path: question.path, headers: headers)
          .answer(sending: Data(repeating: 0x20, count: 10_000_000))
        #expect(huge.status == 413, "\(question.path)")
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
          let answer = try await server.post(
            question.path, question.body, contentType: type, headers: headers)
          #expect(answer.status == 415, "\(question.path) \(type)")
        }
      }
    }
  }
}
