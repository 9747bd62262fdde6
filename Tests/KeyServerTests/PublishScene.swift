import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing
import UploadToken
import World

/// What a phone of `/v1/publish` has: keys, a secret, and a certificate over both.
struct PublishScene: Sendable {
  static let app = "pl.gov.mc.protegosafe"

  let server: RunningKeyServer
  let secret = Data(SystemRandomness().bytes(16))

  /// `count` keys of whole days, the newest ended at midnight before the clock's day.
  func keys(_ count: Int = 14, risk: Int? = 8) -> [PublishKey] {
    let today = Int32(server.clock.now.timeIntervalSince1970 / 86_400) * 144
    return (1...count).map { day in
      PublishKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: today - Int32(day) * 144, transmissionRisk: risk)
    }
  }

  /// How a certificate differs from a good one.
  struct Wish: Sendable {
    var reportType = "confirmed"
    var onset: UInt32?
    var id: String? = UUID().uuidString
    var lifetime: TimeInterval = 900
    var issuedBefore: TimeInterval = 0
    var issuer = "codes"
    var audience = "keys"
    var keyID = "t1"
    var key: P256.Signing.PrivateKey?
  }

  /// A certificate for `keys`.
  func certificate(
    _ keys: [PublishKey], _ change: (inout Wish) -> Void = { _ in }
  ) throws -> String {
    var wish = Wish()
    change(&wish)
    let key = wish.key ?? server.authority.tokenKey
    let issuer = CertificateIssuer(
      keys: try SigningKeys([
        try SigningKey(keyID: wish.keyID, privateKeyPEM: key.pemRepresentation)
      ]), issuer: wish.issuer, audience: wish.audience)
    let issuedAt = server.clock.now.addingTimeInterval(-wish.issuedBefore)
    return try issuer.text(
      of: VerificationCertificate(
        certificateID: wish.id, issuedAt: issuedAt,
        expiresAt: issuedAt.addingTimeInterval(wish.lifetime), reportType: wish.reportType,
        symptomOnsetInterval: wish.onset,
        keyHMAC: KeyHMAC.authenticationCode(over: keys.map(SentKey.init), secret: secret)),
      at: server.clock.now)
  }

  /// A request that is all right, unless the certificate or `change` makes it otherwise.
  func request(
    _ keys: [PublishKey], certificate: String? = nil, token: String? = nil,
    _ change: (inout PublishRequest) -> Void = { _ in }
  ) throws -> PublishRequest {
    var request = PublishRequest(
      temporaryExposureKeys: keys, healthAuthorityID: Self.app,
      verificationPayload: try certificate ?? self.certificate(keys),
      hmacKey: secret.base64EncodedString(), revisionToken: token, padding: "AAAA")
    change(&request)
    return request
  }

  /// Sends `request`.
  @discardableResult
  func publish(
    _ request: PublishRequest, headers: [(String, String)] = []
  ) async throws -> Published {
    try await post(JSONEncoder().encode(request), headers: headers)
  }

  /// Publishes `keys` under a certificate of `type`.
  @discardableResult
  func publish(
    _ keys: [PublishKey], as type: String, token: String? = nil
  ) async throws -> Published {
    try await publish(
      request(keys, certificate: certificate(keys) { $0.reportType = type }, token: token))
  }

  /// Sends `body` as it is.
  func post(
    _ body: Data, type: String = "application/json", headers: [(String, String)] = []
  ) async throws -> Published {
    let answer = try await server.post(
      body, to: KeyServerRoute.publish, type: type, headers: headers)
    return Published(
      http: answer, said: try JSONDecoder().decode(PublishAnswer.self, from: answer.body))
  }
}

/// What `/v1/publish` answered.
struct Published: Sendable {
  let http: Answer
  let said: PublishAnswer

  var status: UInt { http.status }
  var code: PublishCode? { said.code }
}
