import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Testing

@Suite("Servers 2.2: verification certificate")
struct CertificateTests {
  private func run(_ body: (PublishScene) async throws -> Void) async throws {
    try await RunningKeyServer.run({
      $0.apps = [.init(id: "an.other.app", regions: ["CZ"], authorities: ["somebody else"])]
      $0.apps += [.init(id: "no.region", regions: [], authorities: ["codes"])]
    }) { try await body(PublishScene(server: $0)) }
  }

  @Test("5.7 A certificate that is missing, forged, misdirected, early or late is the same 401")
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
        try scene.certificate(keys) { $0.issuedBefore = -1 },
        try scene.certificate(keys) { $0.reportType = "perhaps" },
      ] {
        let answer = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((answer.status, answer.code) == (401, .certificateInvalid))
        bodies.append(Data((answer.said.error ?? "").utf8))
      }
      // Nothing tells why, nor what was expected.
      #expect(Set(bodies).count == 1)
      #expect(try scene.server.count("SELECT count(*) FROM upload") == 0)
      let inTime = try scene.certificate(keys) { $0.issuedBefore = 899 }
      #expect(try await scene.publish(scene.request(keys, certificate: inTime)).status == 200)
    }
  }

  @Test("An app that is not known, may not use this authority, or has no region")
  func apps() async throws {
    try await run { scene in
      let keys = scene.keys(1)
      func answer(_ app: String) async throws -> Published {
        try await scene.publish(scene.request(keys) { $0.healthAuthorityID = app })
      }
      let unknown = try await answer("nobody")
      #expect((unknown.status, unknown.code) == (401, .unknownHealthAuthorityID))
      let other = try await answer("an.other.app")
      #expect((other.status, other.code) == (401, .certificateInvalid))
      let homeless = try await answer("no.region")
      #expect((homeless.status, homeless.code) == (500, .missingRegionConfiguration))
    }
  }

  @Test("The HMAC binds the certificate to these keys, numbers and secret")
  func binding() async throws {
    try await run { scene in
      let keys = scene.keys(3)
      let certificate = try scene.certificate(keys)
      var (other, period, risk) = (keys, keys, keys)
      other[0].key = scene.keys(1)[0].key
      period[0].rollingPeriod = 143
      risk[0].transmissionRisk = 7
      for keys in [other, period, risk, Array(keys.dropLast())] {
        let answer = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((answer.status, answer.code) == (401, .certificateInvalid))
      }
      for secret in [nil, "", "?", Data(repeating: 1, count: 16).base64EncodedString()] {
        let answer = try await scene.publish(
          scene.request(keys, certificate: certificate) { $0.hmacKey = secret })
        #expect((answer.status, answer.code) == (401, .certificateInvalid))
      }
      // In another order, and with the secret in the other alphabet without its padding.
      let url = scene.secret.base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
      let answer = try await scene.publish(
        scene.request(keys.reversed(), certificate: certificate) { $0.hmacKey = url })
      #expect(answer.status == 200)
    }
  }

  @Test(
    "Where all risks are 0, a code with and one without them is taken; where one is not, only with")
  func zeroRisks() async throws {
    try await run { scene in
      for (sent, certified, status) in [
        (0, nil, UInt(200)), (nil, 0, 200), (0, 0, 200), (nil, nil, 200), (1, nil, 401),
      ] as [(Int?, Int?, UInt)] {
        var keys = scene.keys(2, risk: certified)
        let certificate = try scene.certificate(keys)
        for index in keys.indices { keys[index].transmissionRisk = sent }
        let answer = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect(answer.status == status)
      }
    }
  }

  @Test("The code is over the text of a key as it was sent, in either alphabet")
  func alphabets() async throws {
    try await run { scene in
      var keys = scene.keys(2)
      keys[0].key = Data(repeating: 0xFF, count: 16).base64EncodedString()
        .replacing("/", with: "_").replacing("=", with: "")
      let answer = try await scene.publish(scene.request(keys))
      #expect(answer.said.insertedExposures == 2)
    }
  }
}
