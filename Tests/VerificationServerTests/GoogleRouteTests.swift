// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// Properties of all routes of Google's contract: strict JSON, body size, API keys, decoys.
@Suite struct GoogleRouteTests {
  static let deviceRoutes = [
    VerificationRoute.verify, VerificationRoute.certificate, VerificationRoute.userReport,
  ]
  static let adminRoutes = [
    VerificationRoute.issue, VerificationRoute.batchIssue, VerificationRoute.checkCodeStatus,
    VerificationRoute.expireCode, VerificationRoute.freePhone,
  ]

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "JSON that parsers interpret differently is rejected with 400 on every route",
    arguments: [
      "", "{", "[]", "null", #""text""#, "{}{}", #"{"padding":1}"#, #"{"strange":1}"#,
      #"{"padding":"a","padding":"b"}"#, #"{"padding":"a","p\u0061dding":"b"}"#,
      #"{"code":5,"token":5,"uuid":5,"testType":5,"codes":5,"nonce":5}"#,
      String(repeating: "[", count: 5_000),
    ])
  func strict(body: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for path in Self.deviceRoutes {
        #expect(try await server.device(path, body).refusal == "400 unparsable_request", "\(path)")
      }
      for path in Self.adminRoutes {
        #expect(try await server.admin(path, body).refusal == "400 unparsable_request", "\(path)")
      }
    }
  }

  @Test("A body of 64,000 bytes is accepted, one of 64,001 bytes is rejected with 413")
  func length() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for (length, status) in [(63_999, 200), (64_000, 200), (64_001, 413), (10 << 20, 413)] {
        let code = try await server.issue().code
        let start = #"{"code":"\#(code)","padding":""#
        let padding = String(repeating: "A", count: length - start.utf8.count - 2)
        let response = try await server.device(VerificationRoute.verify, start + padding + #""}"#)
        #expect(response.status == status, "\(length)")
        if status == 413 { #expect(response.refusal == "413 unparsable_request") }
      }
      let wrong = try await server.post(
        VerificationRoute.verify, "{}", contentType: "text/plain",
        headers: ["X-API-Key": server.deviceKey])
      #expect(wrong.refusal == "415 unparsable_request")
    }
  }

  @Test("A missing, wrong, revoked or other kind of API key is rejected with 401 on every route")
  func apiKeys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let stats = try await server.newKey(.stats)
      let revoked = try await server.newKey(.device)
      let apiKeys = try server.apiKeys()
      #expect(try await apiKeys.revoke(String(revoked.prefix(16))))
      #expect(try await apiKeys.revoke("0000000000000000") == false)
      for (paths, good, other) in [
        (Self.deviceRoutes, server.deviceKey, server.adminKey),
        (Self.adminRoutes, server.adminKey, server.deviceKey),
      ] {
        for path in paths {
          let wrongs = [
            "", "x", other, stats, revoked, good + "a", String(good.dropLast()),
            String(good.dropLast()) + (good.last == "A" ? "B" : "A"), good.uppercased(),
          ]
          for wrong in wrongs {
            let response = try await server.post(path, "{}", headers: ["X-API-Key": wrong])
            #expect(response.refusal == "401 unauthorized")
          }
          #expect(try await server.post(path, "{}").refusal == "401 unauthorized")
          let response = try await server.post(path, "{}", headers: ["X-API-Key": good])
          #expect(response.status != 401)
        }
      }
    }
  }

  @Test("Of an API key only the hash is stored, and neither key nor secret is logged")
  func apiKeyAtRest() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      _ = try await server.issue()
      let secret = try #require(server.deviceKey.split(separator: ".").last)
      #expect(server.deviceKey.utf8.count == 60 && secret.utf8.count == 43)
      for file in folder.files() {
        #expect(try Data(contentsOf: file).range(of: Data(secret.utf8)) == nil)
      }
      for line in server.log.lines {
        #expect(!line.contains(secret))
      }
      let apiKeys = try server.apiKeys()
      let entries = try await apiKeys.list()
      #expect(entries.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.admin, .device])
      #expect(entries.allSatisfy { $0.createdAt == VerificationBench.start && $0.revokedAt == nil })
      for (length, isGood) in [(0, false), (1, true), (100, true), (101, false)] {
        let name = String(repeating: "a", count: length)
        let key = try? await apiKeys.add(kind: .stats, name: name)
        #expect((key != nil) == isGood)
      }
    }
  }

  @Test(
    "A decoy has the status, headers and size of a success on every route, and no effect"
  )
  func decoys() async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.policy.allowsUserReport = true
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL")
      }
    ) { server async throws in
      let chaff = ["X-Chaff": "1"]
      let issued = try await server.issue()
      let token = try await server.verified(try await server.issue().code).token
      let hmac = RunningServer.keyHMAC.base64EncodedString()
      let nonce = Data(repeating: 1, count: 256).base64EncodedString()
      let uuid = #"{"uuid":"\#(issued.uuid)"}"#
      for (path, body, isDevice) in [
        (VerificationRoute.verify, #"{"code":"\#(issued.code)"}"#, true),
        (VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#, true),
        (
          VerificationRoute.userReport,
          #"{"testDate":"2027-01-15","phone":"+48123456789","nonce":"\#(nonce)"}"#, true
        ),
        (VerificationRoute.issue, #"{"testType":"confirmed"}"#, false),
        (
          VerificationRoute.batchIssue,
          #"{"codes":[{"testType":"confirmed"},{"testType":"confirmed"}]}"#, false
        ),
        (VerificationRoute.checkCodeStatus, uuid, false),
        (VerificationRoute.expireCode, uuid, false),
        (VerificationRoute.freePhone, #"{"phone":"+48123456789"}"#, false),
      ] {
        let key = ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
        let decoy = try await server.post(path, body, headers: key.merging(chaff) { $1 })
        let empty = try await server.post(path, "{}", headers: key.merging(chaff) { $1 })
        if path == VerificationRoute.verify {
          #expect(try await server.status(of: issued.uuid).claimed == false)
        }
        let real = try await server.post(path, body, headers: key)
        #expect(real.status == 200, "\(path)")
        for response in [decoy, empty] {
          #expect(response.status == real.status, "\(path)")
          #expect(response.headers.keys.sorted() == real.headers.keys.sorted(), "\(path)")
          #expect(response.headers["content-type"] == real.headers["content-type"])
        }
        #expect(decoy.body.count == real.body.count, "\(path)")
        #expect(try fields(decoy) == fields(real), "\(path)")
        let stranger = try await server.post(path, body, headers: chaff)
        #expect(stranger.refusal == "401 unauthorized")
      }
    }
  }

  private func fields(_ response: RunningServer.Response) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: response.body) as? [String: Any]
    return try #require(object).keys.sorted().filter { !$0.hasSuffix("Date") }
  }

  @Test("In maintenance every route of Google's contract responds with 429, and codes stay valid")
  func maintenance() async throws {
    try await RunningServer.run(
      in: folder.url, configure: { $0.policy.isInMaintenance = true }
    ) { server async throws in
      for path in Self.deviceRoutes + Self.adminRoutes {
        let response = try await server.device(path, "{}")
        #expect(response.refusal == "429 maintenance_mode")
        #expect(response.headers["retry-after"] == "600")
      }
      #expect(try await server.generate().status == 200)
    }
  }

  @Test(
    "The error of an invalid token does not reveal what was read or expected",
    arguments: ["a.b.c", "e30.e30.AAAA"])
  func quietRefusals(token: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let response = try await server.certify(token)
      let failure = try JSONDecoder().decode(VerificationFailure.self, from: response.body)
      #expect(failure.error == "The token does not exist.")
      for word in ["kid", "alg", "audience", "verification", "keys", "JSON"] {
        #expect(!failure.error.contains(word))
      }
    }
  }
}
