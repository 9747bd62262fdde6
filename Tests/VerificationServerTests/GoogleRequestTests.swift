import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// servers.md 2.7: strict JSON of at most 64,000 bytes, API keys by kind, decoys.
@Suite struct GoogleRequestTests {
  static let deviceRoutes = [
    VerificationRoute.verify, VerificationRoute.certificate, VerificationRoute.userReport,
  ]
  static let adminRoutes = [
    VerificationRoute.issue, VerificationRoute.batchIssue, VerificationRoute.checkCodeStatus,
    VerificationRoute.expireCode,
  ]

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "2.7 JSON that another reader would take otherwise is refused on every route",
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

  @Test("2.7 A body of 64,000 bytes is read, one of 64,001 is not; 10 MB are not waited for")
  func length() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for (length, status) in [(63_999, 200), (64_000, 200), (64_001, 413), (10 << 20, 413)] {
        let code = try await server.issue().code
        let start = #"{"code":"\#(code)","padding":""#
        let padding = String(repeating: "A", count: length - start.utf8.count - 2)
        let answer = try await server.device(VerificationRoute.verify, start + padding + #""}"#)
        #expect(answer.status == status, "\(length)")
        if status == 413 { #expect(answer.refusal == "413 unparsable_request") }
      }
      let wrong = try await server.post(
        VerificationRoute.verify, "{}", contentType: "text/plain",
        headers: ["X-API-Key": server.deviceKey])
      #expect(wrong.refusal == "415 unparsable_request")
    }
  }

  @Test("2.7 Each route wants a key of its kind, whole, and not revoked")
  func apiKeys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let stats = try await server.newKey(.stats)
      let revoked = try await server.newKey(.device)
      let desk = try server.desk()
      #expect(try await desk.revoke(String(revoked.prefix(16))))
      #expect(try await desk.revoke("0000000000000000") == false)
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
            let answer = try await server.post(path, "{}", headers: ["X-API-Key": wrong])
            #expect(answer.refusal == "401 unauthorized")
          }
          #expect(try await server.post(path, "{}").refusal == "401 unauthorized")
          let answer = try await server.post(path, "{}", headers: ["X-API-Key": good])
          #expect(answer.status != 401)
        }
      }
    }
  }

  @Test("An API key is kept as a mark: neither it nor its secret lies in the database or the log")
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
      let desk = try server.desk()
      let entries = try await desk.list()
      #expect(entries.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.admin, .device])
      #expect(entries.allSatisfy { $0.createdAt == HandClock.start && $0.revokedAt == nil })
      for (length, isGood) in [(0, false), (1, true), (100, true), (101, false)] {
        let name = String(repeating: "a", count: length)
        let key = try? await desk.add(kind: .stats, name: name)
        #expect((key != nil) == isGood)
      }
    }
  }

  @Test(
    "5.3 A decoy looks like a success on every route, to the header and the byte, and has no effect"
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
      ] {
        let key = ["X-API-Key": isDevice ? server.deviceKey : server.adminKey]
        let decoy = try await server.post(path, body, headers: key.merging(chaff) { $1 })
        let empty = try await server.post(path, "{}", headers: key.merging(chaff) { $1 })
        if path == VerificationRoute.verify {
          #expect(try await server.fate(issued.uuid).claimed == false)
        }
        let real = try await server.post(path, body, headers: key)
        #expect(real.status == 200, "\(path)")
        for answer in [decoy, empty] {
          #expect(answer.status == real.status, "\(path)")
          #expect(answer.headers.keys.sorted() == real.headers.keys.sorted(), "\(path)")
          #expect(answer.headers["content-type"] == real.headers["content-type"])
        }
        #expect(decoy.body.count == real.body.count, "\(path)")
        #expect(try fields(decoy) == fields(real), "\(path)")
        let stranger = try await server.post(path, body, headers: chaff)
        #expect(stranger.refusal == "401 unauthorized")
      }
    }
  }

  private func fields(_ answer: RunningServer.Answer) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
    return try #require(object).keys.sorted().filter { !$0.hasSuffix("Date") }
  }

  @Test("2.7 In maintenance every route of this contract says so, and codes stay good")
  func maintenance() async throws {
    try await RunningServer.run(
      in: folder.url, configure: { $0.policy.isInMaintenance = true }
    ) { server async throws in
      for path in Self.deviceRoutes + Self.adminRoutes {
        let answer = try await server.device(path, "{}")
        #expect(answer.refusal == "429 maintenance_mode")
        #expect(answer.headers["retry-after"] == "600")
      }
      #expect(try await server.generate().status == 200)
    }
  }

  @Test(
    "5.7 No refusal says what the server read or expected", arguments: ["a.b.c", "e30.e30.AAAA"])
  func quietRefusals(token: String) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let answer = try await server.certify(token)
      let failure = try JSONDecoder().decode(VerificationFailure.self, from: answer.body)
      #expect(failure.error == "There is no such token.")
      for word in ["kid", "alg", "audience", "verification", "keys", "JSON"] {
        #expect(!failure.error.contains(word))
      }
    }
  }
}
