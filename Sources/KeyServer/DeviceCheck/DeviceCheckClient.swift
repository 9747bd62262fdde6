import AsyncHTTPClient
import Foundation
import KeyServerAPI
import NIOCore
import NIOHTTP1
import UploadToken

/// A client of Apple's DeviceCheck: `POST /v1/validate_device_token`.
struct DeviceCheckClient: Sendable {
  /// The result of a request.
  enum Verdict: Hashable, Sendable {
    case genuine
    case notGenuine
    /// A timeout, an unreadable response, or an error that is not about the device.
    case unknown
  }

  private let url: String
  private let teamID: String
  private let key: SigningKey
  private let timeoutSeconds: Int
  private let client: HTTPClient

  init(
    _ configuration: DeviceCheckConfiguration, timeoutSeconds: Int, client: HTTPClient
  ) throws(KeyServerError) {
    let key = try? SigningKey(
      keyID: configuration.keyID, privateKeyPEM: configuration.privateKeyPEM)
    guard let key else {
      throw .configuration("The device check's privateKeyPEM must be a P-256 private key.")
    }
    url =
      configuration.baseURL.appendingPathComponent("v1")
      .appendingPathComponent("validate_device_token").absoluteString
    teamID = configuration.teamID
    self.key = key
    self.timeoutSeconds = timeoutSeconds
    self.client = client
  }

  /// Sends the device token in `payload`.
  func verdict(on payload: DeviceVerificationPayload, at now: Date) async -> Verdict {
    do {
      let response = try await client.execute(
        try request(for: payload, at: now),
        timeout: .seconds(Int64(timeoutSeconds)))
      _ = try await response.body.collect(upTo: KeyServerLimit.deviceCheckResponseBytesMax)
      return Self.verdict(status: response.status.code)
    } catch {
      return .unknown
    }
  }

  private func request(
    for payload: DeviceVerificationPayload, at now: Date
  ) throws -> HTTPClientRequest {
    let claims = Claims(iss: teamID, iat: Int64(now.timeIntervalSince1970))
    let token = try CompactToken.text(claims, signedBy: key)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "authorization", value: "Bearer \(token)")
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(try JSONEncoder().encode(Query(payload)))
    return request
  }

  /// DeviceCheck responds with 400 if it rejects the token; other errors are not about the device.
  private static func verdict(status: UInt) -> Verdict {
    switch status {
    case 200: .genuine
    case 400: .notGenuine
    default: .unknown
    }
  }

  /// The claims of the bearer token.
  private struct Claims: Encodable {
    /// The developer team.
    let iss: String
    /// The time of the request, in Unix seconds.
    let iat: Int64
  }

  /// The body of a request, with Apple's field names.
  private struct Query: Encodable {
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
}
