import Foundation
import Hummingbird
import QuietHTTP
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

/// The description at `/openapi.json` against the routes and their answers.
@Suite struct DescriptionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("Every route that is registered is described, and no other")
  func routes() async throws {
    let bench = try VerificationBench()
    let configuration = VerificationServerConfiguration(
      databaseFile: folder.path("x.sqlite"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 7, count: 32), signing: bench.signing)
    let rooms = VerificationRooms(
      configuration: configuration, storage: bench.storage, keys: bench.keys,
      apiTokens: try ApiTokens([]), clock: bench.clock, randomness: SystemRandomness())
    let registered = try rooms.router().routes.filter { $0.method != .head }
      .map { "\($0.method.rawValue) \($0.path)" }
    try await RunningServer.run(in: folder.url) { server async throws in
      let description = try await description(server)
      #expect(description.routes == Set(registered))
      #expect(registered.count == 13)
    }
  }

  @Test("Real answers, good and bad, are as they are described")
  func answers() async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL")
      }
    ) { server async throws in
      let description = try await description(server)
      var statuses: Set<String> = []
      func check(_ path: String, _ answer: RunningServer.Answer) {
        let faults = description.faults(inAnswer: answer.body, status: answer.status, path: path)
        #expect(faults.isEmpty, "\(path) \(answer.status)")
        statuses.insert("\(path) \(answer.status)")
      }
      for (path, body) in try await Self.questions(to: server) {
        let isDevice = GoogleRequestTests.deviceRoutes.contains(path)
        let isSeed = !path.hasPrefix("/api/")
        let key =
          isSeed
          ? [VerificationRoute.apiTokenHeader: RunningServer.apiToken]
          : ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
        #expect(description.faults(inQuestion: Data(body.utf8), path: path).isEmpty, "\(path)")
        check(path, try await server.post(path, body, headers: key))
        check(path, try await server.post(path, "{", headers: key))
        check(path, try await server.post(path, body, contentType: "text/plain", headers: key))
        check(
          path, try await server.post(path, String(repeating: " ", count: 64_001), headers: key))
        if path != VerificationRoute.accessToken { check(path, try await server.post(path, body)) }
        check(
          path, try await server.post(path, body, headers: key.merging(["X-Chaff": "1"]) { $1 }))
      }
      for status in [200, 400, 401, 413, 415] {
        #expect(statuses.contains("\(VerificationRoute.batchIssue) \(status)"))
      }
      #expect(statuses.contains("\(VerificationRoute.accessToken) 404"))
      for path in [VerificationRoute.keys, VerificationRoute.keyList] {
        let page = try await server.get(path)
        let faults = description.faults(
          inAnswer: page.body, status: page.status, method: "get", path: path)
        #expect(faults.isEmpty)
        let keys = try JSONDecoder().decode(JSONWebKeySet.self, from: page.body)
        #expect(keys.publicKeysPEM.count == 1)
      }
    }
  }

  private static func questions(to server: RunningServer) async throws -> [(String, String)] {
    let issued = try await server.issue(
      #"{"testType":"confirmed","symptomDate":"2027-01-10","testDate":"2027-01-12"}"#)
    let token = try await server.verified(try await server.issue().code).token
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    let order = #"{"testType":"confirmed","tzOffset":0,"padding":"AAAA"}"#
    let uuid = #"{"uuid":"\#(issued.uuid)"}"#
    let report =
      #"{"testDate":"2027-01-15","phone":"+48123456789","nonce":"\#(UserReportTests.nonce)"}"#
    return [
      (VerificationRoute.generateCode, #"{"data":{"testType":"confirmed"}}"#),
      (VerificationRoute.generateCodesBatch, #"{"data":{"duration":1800,"numberOfCodes":3}}"#),
      (VerificationRoute.accessToken, #"{"data":{"code":"\#(try await server.newCode())"}}"#),
      (VerificationRoute.accessToken, #"{"data":{"code":"A1B2C3"}}"#),
      (VerificationRoute.issue, order), (VerificationRoute.batchIssue, #"{"codes":[\#(order)]}"#),
      (VerificationRoute.verify, #"{"code":"\#(issued.code)","accept":["confirmed"]}"#),
      (VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#),
      (VerificationRoute.checkCodeStatus, uuid), (VerificationRoute.expireCode, uuid),
      (VerificationRoute.userReport, report),
    ]
  }

  @Test("An answer that is not as described is found out")
  func control() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let description = try await description(server)
      let path = VerificationRoute.checkCodeStatus
      for (body, status, faults) in [
        (#"{"claimed":true,"expiresAtTimestamp":1,"padding":""}"#, 200, 0),
        (#"{"claimed":1,"expiresAtTimestamp":1,"padding":""}"#, 200, 1),
        (#"{"claimed":true,"expiresAtTimestamp":"1"}"#, 200, 2),
        (#"{"claimed":true,"expiresAtTimestamp":1,"padding":"","more":1}"#, 200, 1),
        (#"{"error":"","errorCode":"strange","error_code":"code_invalid","padding":""}"#, 400, 1),
        ("{}", 418, 1), ("no", 200, 1),
      ] {
        let found = description.faults(inAnswer: Data(body.utf8), status: status, path: path)
        #expect(found.count == faults, "\(body) \(found)")
      }
    }
  }

  private func description(_ server: RunningServer) async throws -> ServerDescription {
    let page = try await server.get("/openapi.json")
    #expect(page.status == 200)
    return try #require(ServerDescription(page.body))
  }
}
