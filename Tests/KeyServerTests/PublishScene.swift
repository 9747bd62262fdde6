// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing
import UploadToken
import World

/// A client of `/v1/publish`, with a secret and certificates.
struct PublishScene: Sendable {
  static let app = "pl.gov.mc.protegosafe"

  let server: RunningKeyServer
  let secret = Data(SystemRandomness().bytes(16))

  /// `count` keys of whole days; the newest ends at the midnight before the clock's time.
  func keys(_ count: Int = 14, risk: Int? = 8) -> [PublishKey] {
    let today = Int32(server.clock.now.timeIntervalSince1970 / 86_400) * 144
    return (1...count).map { day in
      PublishKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: today - Int32(day) * 144, transmissionRisk: risk)
    }
  }

  /// The properties of a certificate; the defaults are valid.
  struct CertificateOptions: Sendable {
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
    _ keys: [PublishKey], _ change: (inout CertificateOptions) -> Void = { _ in }
  ) throws -> String {
    var options = CertificateOptions()
    change(&options)
    let key = options.key ?? server.authority.tokenKey
    let issuer = CertificateIssuer(
      keys: try SigningKeys([
        try SigningKey(keyID: options.keyID, privateKeyPEM: key.pemRepresentation)
      ]), issuer: options.issuer, audience: options.audience)
    let issuedAt = server.clock.now.addingTimeInterval(-options.issuedBefore)
    return try issuer.text(
      of: VerificationCertificate(
        certificateID: options.id, issuedAt: issuedAt,
        expiresAt: issuedAt.addingTimeInterval(options.lifetime), reportType: options.reportType,
        symptomOnsetInterval: options.onset,
        keyHMAC: KeyHMAC.authenticationCode(over: keys.map(UploadedKey.init), secret: secret)),
      at: server.clock.now)
  }

  /// A valid request, unless the certificate or `change` makes it invalid.
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

  /// Sends `body` unchanged.
  func post(
    _ body: Data, type: String = "application/json", headers: [(String, String)] = []
  ) async throws -> Published {
    let response = try await server.post(
      body, to: KeyServerRoute.publish, type: type, headers: headers)
    return Published(
      http: response, body: try JSONDecoder().decode(PublishResponse.self, from: response.body))
  }
}

/// A response of `/v1/publish`.
struct Published: Sendable {
  let http: Answer
  let body: PublishResponse

  var status: UInt { http.status }
  var code: PublishCode? { body.code }
}
