// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing
import UploadToken

@Suite("Key server: invalid requests")
struct BadInputTests {
  private struct Claims: Encodable {
    var iss = "codes"
    var aud = "keyserver"
    var exp: Int64
  }

  /// A valid POST request.
  private struct ValidRequest: Sendable {
    let path: String
    let body: Data
    var headers: [(String, String)] = []
    /// True if unknown fields are rejected.
    var isStrict = true
  }

  private static func run(
    _ body: (RunningKeyServer, [ValidRequest]) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run({ configuration in
      configuration.uploadAttempts = 100_000
      configuration.healthAuthorities = [
        HealthAuthority(
          issuer: "codes", audience: "keys", publicKeysPEM: configuration.tokenPublicKeysPEM,
          seesStatistics: true)
      ]
    }) { server in try await body(server, requests(to: server)) }
  }

  private static func requests(to server: RunningKeyServer) async throws -> [ValidRequest] {
    let scene = PublishScene(server: server)
    let keys = scene.keys(2)
    let publish = try scene.request(keys, token: "AAAA") {
      $0.traveler = true
      $0.symptomOnsetInterval = keys[0].rollingStartNumber
    }
    var upload = try await server.request(server.keys(2)) {
      $0.data.hmackey = "AAAA"
      $0.data.deviceVerificationPayload = "AAAA"
      $0.padding = "AAAA"
    }
    upload.isInteroperabilityEnabled = true
    return [
      ValidRequest(
        path: KeyServerRoute.upload, body: try JSONEncoder().encode(upload), isStrict: false),
      ValidRequest(path: KeyServerRoute.publish, body: try JSONEncoder().encode(publish)),
      ValidRequest(
        path: KeyServerRoute.statistics, body: Data(#"{"padding":"AAAA"}"#.utf8),
        headers: [("Authorization", "Bearer \(try statisticsToken(server))")]),
    ]
  }

  private static func statisticsToken(
    _ server: RunningKeyServer, audience: String = "keyserver", lifetime: TimeInterval = 60,
    key: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    let signing = try SigningKey(
      keyID: "t1", privateKeyPEM: (key ?? server.authority.tokenKey).pemRepresentation)
    let end = server.clock.now.addingTimeInterval(lifetime).timeIntervalSince1970
    return try CompactToken.text(Claims(aud: audience, exp: Int64(end)), signedBy: signing)
  }

  private static func storedCount(_ server: RunningKeyServer) throws -> Int {
    try server.count("SELECT count(*) FROM upload")
  }

  @Test("A value of the wrong type is rejected with 400 in every field, and nothing is stored")
  func wrongTypes() async throws {
    try await Self.run { server, requests in
      for request in requests {
        let variants = try InvalidJSONVariants.wrongTypes(of: request.body)
        #expect(variants.count >= 4)
        for variant in variants {
          let answer = try await server.post(
            variant.json, to: request.path, headers: request.headers)
          #expect(answer.status == 400, "\(request.path): \(variant)")
        }
        #expect(try Self.storedCount(server) == 0)
      }
      for request in requests {
        let good = try await server.post(
          request.body, to: request.path, headers: request.headers)
        #expect(good.status == 200, "\(request.path)")
      }
    }
  }

  @Test("A repeated field is rejected with 400 in every object of both contracts")
  func repeatedFields() async throws {
    try await Self.run { server, requests in
      for request in requests {
        for variant in try InvalidJSONVariants.repeatedFields(of: request.body) {
          let answer = try await server.post(
            variant.json, to: request.path, headers: request.headers)
          #expect(answer.status == 400, "\(request.path): \(variant)")
        }
      }
      #expect(try Self.storedCount(server) == 0)
    }
  }

  @Test(
    "An unknown field is rejected with 400 in Google's contract and ignored in the ProteGO Safe contract"
  )
  func unknownFields() async throws {
    try await Self.run { server, requests in
      for request in requests {
        for variant in try InvalidJSONVariants.unknownFields(of: request.body) {
          let answer = try await server.post(
            variant.json, to: request.path, headers: request.headers)
          #expect(answer.status == (request.isStrict ? 400 : 200), "\(request.path): \(variant)")
        }
      }
      #expect(try Self.storedCount(server) == 1)
    }
  }

  @Test(
    "Invalid text in the padding field is rejected with 400",
    arguments: [
      [0xFF], Array(#"\q"#.utf8), [0x01], [0x0A], Array(#"\uD83D"#.utf8), Array(#"\uDE00"#.utf8),
      [0xC0, 0x80], [0xED, 0xA0, 0x80], Array(#"\u12G4"#.utf8),
    ] as [[UInt8]])
  func paddingIsText(bytes: [UInt8]) async throws {
    try await Self.run { server, requests in
      for request in requests {
        func status(_ text: [UInt8]) async throws -> UInt {
          var body = request.body
          let place = try #require(body.range(of: Data(#""padding":"AAAA""#.utf8)))
          body.replaceSubrange(place, with: Data(#""padding":""#.utf8) + text + Data("\"".utf8))
          return try await server.post(body, to: request.path, headers: request.headers).status
        }
        let long = [UInt8](repeating: UInt8(ascii: "A"), count: 1_500)
        #expect(try await status(bytes) == 400, "\(request.path)")
        #expect(try await status(long + bytes + long) == 400, "\(request.path)")
        #expect(try Self.storedCount(server) == 0)
      }
      for request in requests {
        let good = try await server.post(
          request.body, to: request.path, headers: request.headers)
        #expect(good.status == 200, "\(request.path)")
      }
    }
  }

  @Test("A body of ten million bytes is rejected with 413, another content type with 415")
  func tooMuch() async throws {
    try await Self.run { server, requests in
      for request in requests {
        let huge = try await RawPost(port: server.port, path: request.path)
          .answer(sending: Data(repeating: 0x20, count: 10_000_000))
        #expect(huge.status == 413, "\(request.path)")
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
          let answer = try await server.post(
            request.body, to: request.path, type: type, headers: request.headers)
          #expect(answer.status == 415, "\(request.path) \(type)")
        }
      }
      #expect(try Self.storedCount(server) == 0)
    }
  }

  /// Forgeries of a valid token: without an algorithm, or with the public key as an HMAC secret.
  private static func forged(_ token: String, publicKeyPEM: String) -> [String] {
    let parts = token.split(separator: ".").map(String.init)
    func text(_ bytes: Data) -> String {
      bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    func unsigned(_ algorithm: String) -> String {
      text(Data(#"{"alg":"\#(algorithm)","kid":"t1","typ":"JWT"}"#.utf8)) + "." + parts[1]
    }
    let shared = HMAC<SHA256>.authenticationCode(
      for: Data(unsigned("HS256").utf8), using: SymmetricKey(data: Data(publicKeyPEM.utf8)))
    return [
      unsigned("none") + ".", unsigned("none") + "." + parts[2], unsigned("None") + ".",
      unsigned("HS256") + "." + text(Data(shared)), unsigned("HS256") + "." + parts[2],
      parts[0] + "." + parts[1] + ".",
    ]
  }

  @Test("A token that is forged, for another audience or expired is rejected with 401")
  func tokens() async throws {
    try await Self.run { server, _ in
      let (now, other) = (server.clock.now, P256.Signing.PrivateKey())
      let pem = server.authority.tokenKey.publicKey.pemRepresentation
      let good = try await server.authority.token(at: now)
      let bad = [
        try await server.authority.token(at: now, key: other),
        try await server.authority.token(at: now, audience: "other"),
        try await server.authority.token(at: now.addingTimeInterval(-1_801)),
        try await server.authority.token(at: now.addingTimeInterval(-1_800)),
        try await server.authority.token(at: now.addingTimeInterval(61)),
      ]
      for token in Self.forged(good, publicKeyPEM: pem) + bad {
        let request = try await server.request(server.keys(1), token: token)
        #expect(try await server.upload(request).status == 401)
      }
      let last = try await server.authority.token(at: now.addingTimeInterval(-1_799))
      for token in [good, last] {
        let request = try await server.request(server.keys(1), token: token)
        #expect(try await server.upload(request).status == 200)
      }
    }
  }

  @Test("A certificate that is forged, for another audience or expired is rejected with 401")
  func certificates() async throws {
    try await Self.run { server, _ in
      let scene = PublishScene(server: server)
      let keys = scene.keys(1)
      let good = try scene.certificate(keys)
      let pem = server.authority.tokenKey.publicKey.pemRepresentation
      let bad = [
        try scene.certificate(keys) { $0.key = P256.Signing.PrivateKey() },
        try scene.certificate(keys) { $0.audience = "other" },
        try scene.certificate(keys) { $0.issuedBefore = 901 },
        try scene.certificate(keys) { $0.issuedBefore = 900 },
      ]
      for certificate in Self.forged(good, publicKeyPEM: pem) + bad {
        let answer = try await scene.publish(scene.request(keys, certificate: certificate))
        #expect((answer.status, answer.code) == (401, .certificateInvalid))
      }
      #expect(try Self.storedCount(server) == 0)
      #expect(try await scene.publish(scene.request(keys, certificate: good)).status == 200)
    }
  }

  @Test("A statistics token that is forged, for another audience or expired is rejected with 401")
  func statisticsTokens() async throws {
    try await Self.run { server, _ in
      func status(_ token: String) async throws -> UInt {
        try await server.post(
          Data("{}".utf8), to: KeyServerRoute.statistics,
          headers: [("Authorization", "Bearer \(token)")]
        ).status
      }
      let good = try Self.statisticsToken(server)
      let pem = server.authority.tokenKey.publicKey.pemRepresentation
      let bad = [
        try Self.statisticsToken(server, key: P256.Signing.PrivateKey()),
        try Self.statisticsToken(server, audience: "keys"),
        try Self.statisticsToken(server, lifetime: 0),
        try Self.statisticsToken(server, lifetime: -1),
      ]
      for token in Self.forged(good, publicKeyPEM: pem) + bad {
        #expect(try await status(token) == 401)
      }
      #expect(try await status(good) == 200)
      #expect(try await status(Self.statisticsToken(server, lifetime: 1)) == 200)
    }
  }
}
