// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing

@testable import KeyServer

@Suite("Causes of refused uploads in the log")
struct RefusalCauseTests {
  @Test("Each cause of one 401 has a line of its own, and none names data of the user")
  func certificates() async throws {
    let log = CollectedLog()
    try await RunningKeyServer.run(log: log, { _ in }) { server in
      let scene = PublishScene(server: server)
      let keys = scene.keys(2)
      let certificates = [
        try scene.certificate(keys) { $0.key = P256.Signing.PrivateKey() },
        try scene.certificate(keys) { $0.keyID = "t2" },
        try scene.certificate(keys) { $0.issuer = "nobody" },
        try scene.certificate(keys) { $0.audience = "another" },
        try scene.certificate(keys) { $0.issuedBefore = 937 },
        try scene.certificate(keys) { $0.issuedBefore = -75 },
        try scene.certificate(scene.keys(2)), "", "rubbish",
      ]
      for certificate in certificates {
        let response = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((response.status, response.code) == (401, .certificateInvalid))
      }
      let lines = log.lines.filter { $0.contains("refused /v1/publish") }
      #expect(Set(lines).count == certificates.count, "\(lines)")
      for cause in [
        "signature", "key id", "issuer", "audience", "expiry: expired 37 seconds ago",
        "clock: issued 75 seconds ahead of us", "HMAC", "no token", "form of token",
      ] {
        #expect(lines.contains { $0.contains("refused /v1/publish: \(cause) ") }, "\(cause)")
      }
      #expect(!lines.contains { line in keys.contains { line.contains($0.key) } })
      #expect(log.errors.isEmpty)
    }
  }

  @Test("A frequent cause is logged at level error with its count, once for each tenfold")
  func frequent() async throws {
    let log = CollectedLog()
    try await RunningKeyServer.run(log: log, { _ in }) { server in
      let scene = PublishScene(server: server)
      let keys = scene.keys(1)
      let early = try scene.certificate(keys) { $0.issuedBefore = -90 }
      for number in 1..<(3 * RefusalLog.frequentCount) {
        _ = try await scene.publish(scene.request(keys, certificate: early))
        let expected = number < RefusalLog.frequentCount ? 0 : 1
        #expect(log.errors.count == expected, "\(number): \(log.errors)")
      }
      let line = try #require(log.errors.first)
      #expect(line.contains("clock") && line.contains("90 seconds") && line.contains("clock 10"))
    }
  }

  @Test("Uploads of the ProteGO Safe contract have causes, too")
  func uploads() async throws {
    let log = CollectedLog()
    try await RunningKeyServer.run(log: log, { _ in }) { server in
      let keys = server.keys(1)
      let now = server.clock.now
      let tokens = [
        try await server.authority.token(at: now + 75),
        try await server.authority.token(at: now - 1_803),
        try await server.authority.token(at: now, audience: "another"),
        try await server.authority.token(at: now, keyID: "t7"),
      ]
      for token in tokens {
        #expect(try await server.upload(server.request(keys, token: token)).status == 401)
      }
      let other = try await server.request(keys) { $0.data.regions = ["XX"] }
      #expect(try await server.upload(other).status == 403)
      let lines = log.lines.filter { $0.contains("refused /uploadDiagnosisKeys") }
      #expect(lines.count == 5)
      for cause in ["clock", "expiry", "audience", "key id", "region"] {
        #expect(lines.contains { $0.contains("Keys: \(cause)") }, "\(cause): \(lines)")
      }
    }
  }
}

@Suite("Keys that an upload loses")
struct SkippedKeyTests {
  @Test("One key of tomorrow is skipped and reported; the others are stored, also when sent again")
  func future() async throws {
    try await RunningKeyServer.run { server in
      var keys = server.keys(14)
      let today = UInt32(server.clock.now.timeIntervalSince1970 / 86_400) * 144
      keys[3].rollingStartNumber = today + 144
      let token = try await server.authority.token(at: server.clock.now)
      for _ in 0..<2 {
        let response = try await server.upload(server.request(keys, token: token))
        #expect(response.status == 200 && response.result == "")
        let body = String(decoding: response.body, as: UTF8.self)
        #expect(body.contains(#""warnings":["Key 3: A key must not start in the future."]"#))
        #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 13)
      }
    }
  }

  @Test("An upload without skipped keys has no warnings, and one without a valid key is refused")
  func allOrNothing() async throws {
    try await RunningKeyServer.run { server in
      let good = try await server.upload(server.request(server.keys(2)))
      #expect(!String(decoding: good.body, as: UTF8.self).contains("warnings"))
      var keys = server.keys(2)
      for index in keys.indices { keys[index].rollingStartNumber += 100 * 144 }
      let token = try await server.authority.token(at: server.clock.now)
      let refused = try await server.upload(server.request(keys, token: token))
      #expect((refused.status, refused.errorStatus) == (400, "INVALID_ARGUMENT"))
      // The token stays valid.
      let request = try await server.request(server.keys(2), token: token)
      #expect(try await server.upload(request).status == 200)
    }
  }
}
