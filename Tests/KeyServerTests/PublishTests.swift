// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Publish requests")
struct PublishTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  @Test("A valid request is accepted, its keys are stored, and the response names the API version")
  func accepted() async throws {
    try await run { scene in
      let response = try await scene.publish(scene.request(scene.keys()))
      #expect((response.status, response.code, response.body.error) == (200, nil, nil))
      #expect(response.body.insertedExposures == 14)
      #expect(response.body.revisionToken?.isEmpty == false)
      #expect(response.http.headers["x-api-version"] == "v1")
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }

  @Test(
    "If the registry cannot be read, a request gets 500 with Retry-After, and succeeds later")
  func unableToLoad() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 2 }) { server in
      let scene = PublishScene(server: server)
      let request = try scene.request(scene.keys())
      try server.change("ALTER TABLE authority_key RENAME TO away")
      // These failures cost no budget.
      for _ in 0..<3 {
        let response = try await scene.publish(request)
        #expect((response.status, response.code) == (500, .unableToLoadHealthAuthority))
        #expect(response.http.headers["retry-after"] == "30")
        let length = response.http.body.count + "retry-after: 30\r\n".utf8.count
        #expect(length == PublishLimit.responseBytesMin)
      }
      let seed = try await server.upload(server.request(server.keys()))
      #expect((seed.status, seed.errorStatus) == (503, "UNAVAILABLE"))
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      try server.change("ALTER TABLE away RENAME TO authority_key")
      #expect(try await scene.publish(request).status == 200)
    }
  }

  @Test("Field names are accepted in any case, because the first clients sent hmackey")
  func anyCase() async throws {
    try await run { scene in
      let text = try String(
        decoding: JSONEncoder().encode(scene.request(scene.keys(1))), as: UTF8.self)
      let response = try await scene.post(
        Data(text.replacingOccurrences(of: "hmacKey", with: "hmackey").utf8))
      #expect((response.status, response.body.insertedExposures) == (200, 1))
    }
  }

  @Test(
    "A body that is not one JSON object of the contract is rejected with 400 bad_request",
    arguments: [
      "", "[]", "{", "{}", "null", "{\"padding\":1}", "{\"temporaryExposureKeys\":{}}",
      "{\"temporaryExposureKeys\":[1]}", "{\"healthAuthorityID\":7}", "{\"traveler\":\"yes\"}",
      "{\"symptomOnsetInterval\":1.5}", "{\"symptomOnsetInterval\":99999999999}",
      "{\"regions\":[\"PL\"]}", "{\"temporaryExposureKeys\":[{\"fake\":1}]}",
      "{\"padding\":\"a\",\"Padding\":\"b\"}", "{\"padding\":\"a\"}{}", "{\"padding\":\"a\"} x",
      "{\"padding\":\"\u{1}\"}", "{\"padding\":\"a\",}",
    ])
  func malformed(_ body: String) async throws {
    try await run { scene in
      let response = try await scene.post(Data(body.utf8))
      // An empty object is valid JSON, but names no app.
      let expected: (UInt, PublishCode) =
        body == "{}" ? (401, .unknownHealthAuthorityID) : (400, .badRequest)
      #expect(response.status == expected.0 && response.code == expected.1)
    }
  }

  @Test("Another content type is rejected with 415, and so is a GET request")
  func contentType() async throws {
    try await run { scene in
      let body = try JSONEncoder().encode(scene.request(scene.keys(1)))
      for type in ["text/plain", "application/x-protobuf", ""] {
        let response = try await scene.post(body, type: type)
        #expect((response.status, response.code) == (415, .badRequest))
      }
      let get = try await scene.server.get(KeyServerRoute.publish)
      #expect(get.status == 415)
      #expect(try await scene.post(body, type: "application/json; charset=utf-8").status == 200)
    }
  }

  @Test("A body of 64,000 bytes is accepted; larger ones are rejected with 413")
  func bodyLimit() async throws {
    try await run { scene in
      for (offset, status) in [(-1, UInt(200)), (0, 200), (1, 413)] {
        let body = try JSONEncoder().encode(scene.request(scene.keys(1)))
        let blanks = PublishLimit.bodyBytesMax + offset - body.count
        let response = try await scene.post(body + Data(repeating: 0x20, count: blanks))
        #expect(response.status == status)
        #expect(response.code == (status == 413 ? .badRequest : nil))
      }
      // The server may close the connection before the client has read the response.
      let huge = try? await scene.post(Data(repeating: 0x20, count: 10_000_000))
      #expect(huge.map { $0.status == 413 } ?? true)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 2)
    }
  }

  @Test(
    "Requests with 0 or 31 keys are rejected; with 1 or 30 accepted", arguments: [0, 1, 30, 31])
  func keyCount(_ count: Int) async throws {
    try await run { scene in
      let start = scene.keys(1)[0].rollingStartNumber
      let keys = (0..<count).map { number in
        var key = scene.keys(1)[0]
        key.rollingStartNumber = start - Int32(number % 15) * 144
        return key
      }
      let certificate = try scene.certificate(keys) { $0.onset = UInt32(start - 144) }
      let response = try await scene.publish(scene.request(keys, certificate: certificate))
      let isTaken = (1...30).contains(count)
      #expect(response.status == (isTaken ? 200 : 400))
      #expect(response.code == (isTaken ? nil : .badRequest))
    }
  }

  @Test("Three keys may have the same start; with four, all are rejected", arguments: [2, 3, 4])
  func sameStart(_ count: Int) async throws {
    try await run { scene in
      let keys = (0..<count).map { _ in scene.keys(1)[0] }
      let response = try await scene.publish(scene.request(keys))
      #expect(response.status == (count <= 3 ? 200 : 400))
      #expect(
        try scene.server.count("SELECT count(*) FROM diagnosis_key") == (count <= 3 ? count : 0))
    }
  }

  @Test("Overlapping keys with different starts are rejected; adjacent keys are accepted")
  func overlap() async throws {
    try await run { scene in
      for (offset, status) in [(Int32(143), UInt(400)), (144, 200)] {
        var keys = scene.keys(2)
        keys[1].rollingStartNumber = keys[0].rollingStartNumber - offset
        let response = try await scene.publish(scene.request(keys))
        #expect(response.status == status)
      }
      // Duplicate keys are rejected too, even in different alphabets.
      var twice = [scene.keys(1)[0], scene.keys(1)[0]]
      twice[0].key = Data(repeating: 0xFB, count: 16).base64EncodedString()
      twice[1].key = String(
        twice[0].key.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
      #expect(try await scene.publish(scene.request(twice)).code == .badRequest)
    }
  }

  /// A change to one key, and the expected result.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isDropped: Bool
    let apply: @Sendable (inout PublishKey, Int32) -> Void

    init(
      _ name: String, dropped: Bool, _ apply: @escaping @Sendable (inout PublishKey, Int32) -> Void
    ) {
      (testDescription, isDropped, self.apply) = (name, dropped, apply)
    }

    /// The second argument of `apply` is the current interval.
    static let all = [
      Change("15 bytes", dropped: true) { key, _ in
        key.key = Data(repeating: 1, count: 15).base64EncodedString()
      },
      Change("17 bytes", dropped: true) { key, _ in
        key.key = Data(repeating: 1, count: 17).base64EncodedString()
      },
      Change("no base64", dropped: true) { key, _ in key.key = "?" },
      Change("period -1", dropped: true) { key, _ in key.rollingPeriod = -1 },
      Change("period 0", dropped: true) { key, _ in key.rollingPeriod = 0 },
      Change("period 1", dropped: false) { key, _ in key.rollingPeriod = 1 },
      Change("period 145", dropped: true) { key, _ in key.rollingPeriod = 145 },
      Change("risk -1", dropped: true) { key, _ in key.transmissionRisk = -1 },
      Change("risk 0", dropped: false) { key, _ in key.transmissionRisk = 0 },
      Change("risk 8", dropped: false) { key, _ in key.transmissionRisk = 8 },
      Change("risk 9", dropped: true) { key, _ in key.transmissionRisk = 9 },
      Change("starts now", dropped: false) { key, now in key.rollingStartNumber = now },
      Change("starts in an interval", dropped: true) { key, now in
        key.rollingStartNumber = now + 1
      },
      Change("ended 361 h ago", dropped: true) { key, now in
        key.rollingStartNumber = now - 2_160 - 144 - 6
      },
      Change("ended an interval before 360 h ago", dropped: true) { key, now in
        key.rollingStartNumber = now - 2_160 - 144 - 1
      },
      Change("ended 360 h ago", dropped: false) { key, now in
        key.rollingStartNumber = now - 2_160 - 144
      },
      Change("negative start", dropped: true) { key, _ in key.rollingStartNumber = -1 },
    ]
  }

  @Test(
    "One invalid key is dropped with partial_failure, the others are stored", arguments: Change.all)
  func dropped(_ change: Change) async throws {
    try await run { scene in
      let now = Int32(scene.server.clock.now.timeIntervalSince1970 / 600)
      var keys = scene.keys(2)
      change.apply(&keys[1], now)
      // An onset in the middle, so that no key is too far from it.
      let certificate = try scene.certificate(keys) { $0.onset = UInt32(now - 7 * 144) }
      let response = try await scene.publish(scene.request(keys, certificate: certificate))
      #expect(response.status == 200)
      #expect(response.code == (change.isDropped ? .partialFailure : nil))
      #expect(response.body.insertedExposures == (change.isDropped ? 1 : 2))
      #expect((response.body.error == nil) == !change.isDropped)
      #expect(
        try scene.server.count("SELECT count(*) FROM diagnosis_key")
          == (change.isDropped ? 1 : 2))
    }
  }

  @Test("If every key is invalid, the request is rejected with 400 and the certificate stays valid")
  func allDropped() async throws {
    try await run { scene in
      var keys = scene.keys(3)
      for index in keys.indices { keys[index].rollingPeriod = 0 }
      let response = try await scene.publish(scene.request(keys))
      #expect((response.status, response.code) == (400, .badRequest))
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 0)
    }
  }

  @Test("Keys up to 14 days from the onset are stored; others are dropped with a warning")
  func farFromOnset() async throws {
    try await run { scene in
      let today = Int32(scene.server.clock.now.timeIntervalSince1970 / 86_400) * 144
      for (days, inserted) in [(Int32(13), 1), (14, 1), (15, 0)] {
        var keys = scene.keys(1)
        keys[0].rollingStartNumber = today
        let onset = UInt32(today - days * 144)
        let response = try await scene.publish(
          scene.request(keys, certificate: scene.certificate(keys) { $0.onset = onset }))
        #expect((response.status, response.code, response.body.error) == (200, nil, nil))
        #expect(response.body.insertedExposures == inserted)
        #expect((response.body.warnings?.count ?? 0) == 1 - inserted)
      }
    }
  }

  @Test("The onset is that of the request, else of the certificate, else four days ago")
  func onset() async throws {
    try await run { scene in
      let today = UInt32(scene.server.clock.now.timeIntervalSince1970 / 86_400) * 144
      let now = UInt32(scene.server.clock.now.timeIntervalSince1970 / 600)
      func days(_ sent: UInt32?, _ certified: UInt32?) async throws -> Int {
        let keys = scene.keys(1)
        let certificate = try scene.certificate(keys) { $0.onset = certified }
        try await scene.publish(
          scene.request(keys, certificate: certificate) {
            $0.symptomOnsetInterval = sent.map { Int32($0) }
          })
        let hex = Data(base64Encoded: keys[0].key)!.map { String(format: "%02x", $0) }.joined()
        return try scene.server.count(
          "SELECT days_since_onset FROM diagnosis_key WHERE key_data = x'\(hex)'")
      }
      let body = try await days(today - 3 * 144, today - 5 * 144)
      #expect(body == 2)
      #expect(try await days(nil, today - 5 * 144) == 4)
      #expect(try await days(0, today - 5 * 144) == 4)
      #expect(try await days(nil, nil) == 3)
      // Future onsets and those more than 28 days ago are ignored.
      #expect(try await days(now + 1, today - 6 * 144) == 5)
      #expect(try await days(today - 28 * 144 - 1, today - 6 * 144) == 5)
      #expect(try await days(now, nil) == -1)
    }
  }

  @Test(
    "A missing risk level is derived from the report type",
    arguments: [("confirmed", 2), ("likely", 4), ("user-report", 0)])
  func transmissionRisk(_ type: String, _ risk: Int) async throws {
    try await run { scene in
      var keys = scene.keys(3, risk: nil)
      keys[1].transmissionRisk = 0
      keys[2].transmissionRisk = 7
      let response = try await scene.publish(keys, as: type)
      #expect(response.status == 200)
      let found = "SELECT count(*) FROM diagnosis_key WHERE transmission_risk ="
      #expect(try scene.server.count("\(found) \(risk)") == 2)
      #expect(try scene.server.count("\(found) 7") == 1)
    }
  }

  @Test(
    "A key that is still in use is released two hours after its end, others at the full hour")
  func embargo() async throws {
    try await run { scene in
      let today = Int32(scene.server.clock.now.timeIntervalSince1970 / 86_400) * 144
      var keys = scene.keys(2)
      keys[1].rollingStartNumber = today
      scene.server.clock.advance(by: 1_234)
      try await scene.publish(scene.request(keys))
      let noon = Int(RunningKeyServer.start.timeIntervalSince1970)
      let released = "SELECT released_at FROM diagnosis_key WHERE rolling_start"
      #expect(try scene.server.count("\(released) < \(today)") == noon)
      #expect(try scene.server.count("\(released) = \(today)") == noon + 12 * 3_600 + 7_200)
    }
  }

  @Test("Only keys of a request with traveler are stored as travelling")
  func traveler() async throws {
    try await run { scene in
      try await scene.publish(scene.request(scene.keys(1)) { $0.traveler = true })
      try await scene.publish(scene.request(scene.keys(2)) { $0.traveler = false })
      try await scene.publish(scene.request(scene.keys(3)))
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key WHERE travels = 1") == 1)
    }
  }

  @Test(
    "Responses to valid, rejected, malformed and decoy requests have the same length and headers"
  )
  func lengths() async throws {
    try await run { scene in
      let good = try await scene.publish(scene.request(scene.keys()))
      let refused = try await scene.publish(
        scene.request(scene.keys()) { $0.verificationPayload = nil })
      let broken = try await scene.post(Data("[".utf8))
      let decoy = try await scene.publish(
        scene.request(scene.keys()), headers: [("X-Chaff", "1")])
      let rubbish = try await scene.post(Data("rubbish".utf8), headers: [("X-Chaff", "1")])
      let all = [good, refused, broken, decoy, rubbish]
      #expect(Set(all.map(\.http.body.count)) == [PublishLimit.responseBytesMin])
      #expect(Set(all.map { Set($0.http.headers.keys) }).count == 1)
      #expect(all.map(\.status) == [200, 401, 400, 200, 200])
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }
}
