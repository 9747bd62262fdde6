// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Testing

@Suite("Verification certificates of publish requests")
struct CertificateTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run({
      $0.apps = [.init(id: "an.other.app", regions: ["CZ"], authorities: ["somebody else"])]
      $0.apps += [.init(id: "no.region", regions: [], authorities: ["codes"])]
    }) { try await body(PublishScene(server: $0)) }
  }

  @Test(
    "A missing, forged, misdirected, early or expired certificate is rejected with the same 401")
  func badCertificates() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let noAlgorithm = "eyJhbGciOiJub25lIiwia2lkIjoidDEifQ.e30."
      var bodies: [Data] = []
      for certificate in [
        "", "rubbish", noAlgorithm,
        try scene.certificate(keys) { $0.key = P256.Signing.PrivateKey() },
        try scene.certificate(keys) { $0.keyID = "t2" },
        try scene.certificate(keys) { $0.issuer = "somebody else" },
        try scene.certificate(keys) { $0.audience = "another server" },
        try scene.certificate(keys) { $0.issuedBefore = 900 },
        try scene.certificate(keys) { $0.issuedBefore = -61 },
        try scene.certificate(keys) { $0.reportType = "perhaps" },
      ] {
        let response = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((response.status, response.code) == (401, .certificateInvalid))
        bodies.append(Data((response.body.error ?? "").utf8))
      }
      // The response does not tell the reason.
      #expect(Set(bodies).count == 1)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 0)
      let inTime = try scene.certificate(keys) { $0.issuedBefore = 899 }
      #expect(try await scene.publish(scene.request(keys, certificate: inTime)).status == 200)
    }
  }

  @Test("An unknown app, one of another authority and one without a region get different errors")
  func apps() async throws {
    try await run { scene in
      let keys = scene.keys(1)
      func response(_ app: String) async throws -> Published {
        try await scene.publish(scene.request(keys) { $0.healthAuthorityID = app })
      }
      let unknown = try await response("nobody")
      #expect((unknown.status, unknown.code) == (401, .unknownHealthAuthorityID))
      let other = try await response("an.other.app")
      #expect((other.status, other.code) == (401, .certificateInvalid))
      let noRegion = try await response("no.region")
      #expect((noRegion.status, noRegion.code) == (500, .missingRegionConfiguration))
    }
  }

  @Test(
    "A certificate is rejected for other keys, intervals, risk levels or secrets than those of its HMAC"
  )
  func binding() async throws {
    try await run { scene in
      let keys = scene.keys(3)
      let certificate = try scene.certificate(keys)
      var (other, period, risk) = (keys, keys, keys)
      other[0].key = scene.keys(1)[0].key
      period[0].rollingPeriod = 143
      risk[0].transmissionRisk = 7
      for keys in [other, period, risk, Array(keys.dropLast())] {
        let response = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((response.status, response.code) == (401, .certificateInvalid))
      }
      for secret in [nil, "", "?", Data(repeating: 1, count: 16).base64EncodedString()] {
        let response = try await scene.publish(
          scene.request(keys, certificate: certificate) { $0.hmacKey = secret })
        #expect((response.status, response.code) == (401, .certificateInvalid))
      }
      // Another order of the keys, and the secret in base64url without padding.
      let url = scene.secret.base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
      let response = try await scene.publish(
        scene.request(keys.reversed(), certificate: certificate) { $0.hmacKey = url })
      #expect(response.status == 200)
    }
  }

  @Test(
    "If all risk levels are 0, an HMAC with or without them is accepted; otherwise only one with them"
  )
  func zeroRisks() async throws {
    try await run { scene in
      for (sent, certified, status) in [
        (0, nil, UInt(200)), (nil, 0, 200), (0, 0, 200), (nil, nil, 200), (1, nil, 401),
      ] as [(Int?, Int?, UInt)] {
        var keys = scene.keys(2, risk: certified)
        let certificate = try scene.certificate(keys)
        for index in keys.indices { keys[index].transmissionRisk = sent }
        let response = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect(response.status == status)
      }
    }
  }

  @Test("The HMAC covers the text of each key as it was sent, in base64 or base64url")
  func alphabets() async throws {
    try await run { scene in
      var keys = scene.keys(2)
      keys[0].key = Data(repeating: 0xFF, count: 16).base64EncodedString()
        .replacing("/", with: "_").replacing("=", with: "")
      let response = try await scene.publish(scene.request(keys))
      #expect(response.body.insertedExposures == 2)
    }
  }
}
