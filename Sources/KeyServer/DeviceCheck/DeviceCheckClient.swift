import AsyncHTTPClient
import Foundation
import JWTKit
import KeyServerAPI
import NIOCore
import NIOHTTP1

/// Asks the authority over HTTP and waits for what it says.
struct DeviceCheckAuthority: Sendable {
  private let url: String
  private let teamID: String
  private let keyID: JWKIdentifier
  private let key: ES256PrivateKey
  private let client: HTTPClient

  /// Asks as `configuration` says, through `client`.
  init(_ configuration: DeviceCheckConfiguration, client: HTTPClient) throws(KeyServerError) {
    guard let key = try? ES256PrivateKey(pem: configuration.privateKeyPEM) else {
      throw .configuration("The device check's privateKeyPEM must be a P-256 private key.")
    }
    url =
      configuration.baseURL.appendingPathComponent("v1")
      .appendingPathComponent("validate_device_token").absoluteString
    teamID = configuration.teamID
    keyID = JWKIdentifier(string: configuration.keyID)
    self.key = key
    self.client = client
  }

  /// What the authority says of the token in `payload`.
  func verdict(on payload: DeviceVerificationPayload, at now: Date) async -> DeviceCheckVerdict {
    do {
      let response = try await client.execute(
        try await request(for: payload, at: now),
        timeout: .seconds(Int64(KeyServerLimit.deviceCheckSeconds)))
      _ = try await response.body.collect(upTo: KeyServerLimit.deviceCheckAnswerBytesMax)
      return Self.verdict(status: response.status.code)
    } catch {
      return .unknown
    }
  }

  private func request(
    for payload: DeviceVerificationPayload, at now: Date
  ) async throws -> HTTPClientRequest {
    let keys = await JWTKeyCollection().add(ecdsa: key, kid: keyID)
    let claims = DeviceCheckClaims(iss: teamID, iat: Int64(now.timeIntervalSince1970))
    let token = try await keys.sign(claims, kid: keyID)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "authorization", value: "Bearer \(token)")
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(try JSONEncoder().encode(DeviceCheckQuery(payload)))
    return request
  }

  /// 200 is a yes and 400 a no; anything else speaks of us, of load or of a fault.
  private static func verdict(status: UInt) -> DeviceCheckVerdict {
    switch status {
    case 200: .genuine
    case 400: .notGenuine
    default: .unknown
    }
  }
}

/// What the authority says of a device token.
enum DeviceCheckVerdict: Hashable, Sendable {
  /// It comes from a genuine device.
  case genuine
  /// It does not.
  case notGenuine
  /// Nobody can say just now: no answer, a late one, or one about us and not about the device.
  case unknown
}

/// The body of `validate_device_token`, in the authority's words.
struct DeviceCheckQuery: Encodable {
  private let deviceToken: String
  private let transactionID: String
  private let timestamp: Int64

  init(_ payload: DeviceVerificationPayload) {
    deviceToken = payload.deviceToken.base64EncodedString()
    transactionID = payload.transactionID
    timestamp = payload.timestampMilliseconds
  }

  private enum CodingKeys: String, CodingKey {
    case deviceToken = "device_token"
    case transactionID = "transaction_id"
    case timestamp
  }
}

/// The claims by which we tell the authority who asks.
struct DeviceCheckClaims: JWTPayload {
  /// The developer team.
  var iss: String
  /// Whole Unix seconds.
  var iat: Int64

  /// We only ever sign these.
  func verify(using algorithm: some JWTAlgorithm) async throws {}
}
