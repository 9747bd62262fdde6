import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Servers 2.1: publish")
struct PublishTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run { try await body(PublishScene(server: $0)) }
  }

  @Test("A publish is taken, its keys are in, and the answer names the version")
  func accepted() async throws {
    try await run { scene in
      let answer = try await scene.publish(scene.request(scene.keys()))
      #expect((answer.status, answer.code, answer.said.error) == (200, nil, nil))
      #expect(answer.said.insertedExposures == 14)
      #expect(answer.said.revisionToken?.isEmpty == false)
      #expect(answer.http.headers["x-api-version"] == "v1")
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }

  @Test(
    "Where the app cannot be looked up it is 500 with Retry-After, and the same goes through later")
  func unableToLoad() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 2 }) { server in
      let scene = PublishScene(server: server)
      let request = try scene.request(scene.keys())
      try server.change("ALTER TABLE authority_key RENAME TO away")
      // Nothing of it is taken from the budget.
      for _ in 0..<3 {
        let answer = try await scene.publish(request)
        #expect((answer.status, answer.code) == (500, .unableToLoadHealthAuthority))
        #expect(answer.http.headers["retry-after"] == "30")
        #expect(answer.http.body.count == PublishLimit.answerBytesMin)
      }
      let seed = try await server.upload(server.request(server.keys()))
      #expect((seed.status, seed.errorStatus) == (503, "UNAVAILABLE"))
      #expect(try server.count("SELECT count(*) FROM upload") == 0)
      try server.change("ALTER TABLE away RENAME TO authority_key")
      #expect(try await scene.publish(request).status == 200)
    }
  }

  @Test("Names of fields are taken in any case, as the first clients wrote hmackey")
  func anyCase() async throws {
    try await run { scene in
      let text = try String(
        decoding: JSONEncoder().encode(scene.request(scene.keys(1))), as: UTF8.self)
      let answer = try await scene.post(
        Data(text.replacingOccurrences(of: "hmacKey", with: "hmackey").utf8))
      #expect((answer.status, answer.said.insertedExposures) == (200, 1))
    }
  }

  @Test(
    "What is not one JSON object of the contract is 400 bad_request",
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
      let answer = try await scene.post(Data(body.utf8))
      // An empty object is well formed; it names no app.
      let expected: (UInt, PublishCode) =
        body == "{}" ? (401, .unknownHealthAuthorityID) : (400, .badRequest)
      #expect(answer.status == expected.0 && answer.code == expected.1)
    }
  }

  @Test("Another content type is 415, and so is a GET, which has none")
  func contentType() async throws {
    try await run { scene in
      let body = try JSONEncoder().encode(scene.request(scene.keys(1)))
      for type in ["text/plain", "application/x-protobuf", ""] {
        let answer = try await scene.post(body, type: type)
        #expect((answer.status, answer.code) == (415, .badRequest))
      }
      let get = try await scene.server.get(KeyServerRoute.publish)
      #expect(get.status == 415)
      #expect(try await scene.post(body, type: "application/json; charset=utf-8").status == 200)
    }
  }

  @Test("A body of 64,000 bytes is read, one more is 413, and so is one of ten million")
  func bodyLimit() async throws {
    try await run { scene in
      for (offset, status) in [(-1, UInt(200)), (0, 200), (1, 413)] {
        let body = try JSONEncoder().encode(scene.request(scene.keys(1)))
        let blanks = PublishLimit.bodyBytesMax + offset - body.count
        let answer = try await scene.post(body + Data(repeating: 0x20, count: blanks))
        #expect(answer.status == status)
        #expect(answer.code == (status == 413 ? .badRequest : nil))
      }
      // Who goes on sending is hung up on, perhaps before it has read the answer.
      let huge = try? await scene.post(Data(repeating: 0x20, count: 10_000_000))
      #expect(huge.map { $0.status == 413 } ?? true)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 2)
    }
  }

  @Test("No key and 31 keys are refused whole, 1 and 30 are taken", arguments: [0, 1, 30, 31])
  func keyCount(_ count: Int) async throws {
    try await run { scene in
      let start = scene.keys(1)[0].rollingStartNumber
      let keys = (0..<count).map { number in
        var key = scene.keys(1)[0]
        key.rollingStartNumber = start - Int32(number % 15) * 144
        return key
      }
      let certificate = try scene.certificate(keys) { $0.onset = UInt32(start - 144) }
      let answer = try await scene.publish(scene.request(keys, certificate: certificate))
      let isTaken = (1...30).contains(count)
      #expect(answer.status == (isTaken ? 200 : 400))
      #expect(answer.code == (isTaken ? nil : .badRequest))
    }
  }

  @Test("Three keys may share one start, a fourth refuses all", arguments: [2, 3, 4])
  func sameStart(_ count: Int) async throws {
    try await run { scene in
      let keys = (0..<count).map { _ in scene.keys(1)[0] }
      let answer = try await scene.publish(scene.request(keys))
      #expect(answer.status == (count <= 3 ? 200 : 400))
      #expect(
        try scene.server.count("SELECT count(*) FROM diagnosis_key") == (count <= 3 ? count : 0))
    }
  }

  @Test("Keys that overlap without sharing their start refuse all; keys that touch do not")
  func overlap() async throws {
    try await run { scene in
      for (offset, status) in [(Int32(143), UInt(400)), (144, 200)] {
        var keys = scene.keys(2)
        keys[1].rollingStartNumber = keys[0].rollingStartNumber - offset
        let answer = try await scene.publish(scene.request(keys))
        #expect(answer.status == status)
      }
      // Nor may a key be there twice, in whatever alphabet.
      var twice = [scene.keys(1)[0], scene.keys(1)[0]]
      twice[0].key = Data(repeating: 0xFB, count: 16).base64EncodedString()
      twice[1].key = String(
        twice[0].key.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
      #expect(try await scene.publish(scene.request(twice)).code == .badRequest)
    }
  }

  /// A change to one key, and whether it is then dropped.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isDropped: Bool
    let apply: @Sendable (inout PublishKey, Int32) -> Void

    init(
      _ name: String, dropped: Bool, _ apply: @escaping @Sendable (inout PublishKey, Int32) -> Void
    ) {
      (testDescription, isDropped, self.apply) = (name, dropped, apply)
    }

    /// The second number of `apply` is the current interval.
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

  @Test("A key that breaks a rule is dropped alone: partial_failure", arguments: Change.all)
  func dropped(_ change: Change) async throws {
    try await run { scene in
      let now = Int32(scene.server.clock.now.timeIntervalSince1970 / 600)
      var keys = scene.keys(2)
      change.apply(&keys[1], now)
      // An onset in the middle, so that only the rule in question can drop the key.
      let certificate = try scene.certificate(keys) { $0.onset = UInt32(now - 7 * 144) }
      let answer = try await scene.publish(scene.request(keys, certificate: certificate))
      #expect(answer.status == 200)
      #expect(answer.code == (change.isDropped ? .partialFailure : nil))
      #expect(answer.said.insertedExposures == (change.isDropped ? 1 : 2))
      #expect((answer.said.error == nil) == !change.isDropped)
      #expect(
        try scene.server.count("SELECT count(*) FROM diagnosis_key")
          == (change.isDropped ? 1 : 2))
    }
  }

  @Test("Where every key is dropped by a fault the whole is 400 and the certificate stays good")
  func allDropped() async throws {
    try await run { scene in
      var keys = scene.keys(3)
      for index in keys.indices { keys[index].rollingPeriod = 0 }
      let answer = try await scene.publish(scene.request(keys))
      #expect((answer.status, answer.code) == (400, .badRequest))
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 0)
    }
  }

  @Test("Keys 14 days from the onset are in, 15 days are left out with a warning and no error")
  func farFromOnset() async throws {
    try await run { scene in
      let today = Int32(scene.server.clock.now.timeIntervalSince1970 / 86_400) * 144
      for (days, inserted) in [(Int32(13), 1), (14, 1), (15, 0)] {
        var keys = scene.keys(1)
        keys[0].rollingStartNumber = today
        let onset = UInt32(today - days * 144)
        let answer = try await scene.publish(
          scene.request(keys, certificate: scene.certificate(keys) { $0.onset = onset }))
        #expect((answer.status, answer.code, answer.said.error) == (200, nil, nil))
        #expect(answer.said.insertedExposures == inserted)
        #expect((answer.said.warnings?.count ?? 0) == 1 - inserted)
      }
    }
  }

  @Test("The onset is the request's, else the certificate's, else four days ago")
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
      let said = try await days(today - 3 * 144, today - 5 * 144)
      #expect(said == 2)
      #expect(try await days(nil, today - 5 * 144) == 4)
      #expect(try await days(0, today - 5 * 144) == 4)
      #expect(try await days(nil, nil) == 3)
      // Ahead of now and more than 28 days back count as not said; the first interval of the 28th does.
      #expect(try await days(now + 1, today - 6 * 144) == 5)
      #expect(try await days(today - 28 * 144 - 1, today - 6 * 144) == 5)
      #expect(try await days(now, nil) == -1)
    }
  }

  @Test(
    "A missing risk is filled in from what was found",
    arguments: [("confirmed", 2), ("likely", 4), ("user-report", 0)])
  func transmissionRisk(_ type: String, _ risk: Int) async throws {
    try await run { scene in
      var keys = scene.keys(3, risk: nil)
      keys[1].transmissionRisk = 0
      keys[2].transmissionRisk = 7
      let answer = try await scene.publish(keys, as: type)
      #expect(answer.status == 200)
      let found = "SELECT count(*) FROM diagnosis_key WHERE transmission_risk ="
      #expect(try scene.server.count("\(found) \(risk)") == 2)
      #expect(try scene.server.count("\(found) 7") == 1)
    }
  }

  @Test(
    "A key that is still in use waits until nobody can replay it; others wait for the hour only")
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

  @Test("A traveller's keys say so, nobody else's do")
  func traveler() async throws {
    try await run { scene in
      try await scene.publish(scene.request(scene.keys(1)) { $0.traveler = true })
      try await scene.publish(scene.request(scene.keys(2)) { $0.traveler = false })
      try await scene.publish(scene.request(scene.keys(3)))
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key WHERE travels = 1") == 1)
    }
  }

  @Test(
    "Answers to a success, a refusal, a fault of form and a decoy have one length and one set of headers"
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
      #expect(Set(all.map(\.http.body.count)) == [PublishLimit.answerBytesMin])
      #expect(Set(all.map { Set($0.http.headers.keys) }).count == 1)
      #expect(all.map(\.status) == [200, 401, 400, 200, 200])
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 14)
    }
  }
}
