import CallableEnvelope
import Foundation
import KeyServerAPI
import VerificationAPI
import World

/// Builds the two requests of an upload.
struct UploadRequests: Sendable {
  let configuration: AppConfiguration
  let randomness: any Randomness

  /// Requests a token for the PIN, bound to the keys.
  func token(for pending: PendingUpload) throws -> NetworkRequest {
    try tokenRequest(
      AccessTokenRequest(code: pending.pin, ekeyhmac: pending.keyHMAC.base64EncodedString()))
  }

  /// Uploads the keys with the token.
  func upload(_ pending: PendingUpload) throws -> NetworkRequest {
    try uploadRequest(
      UploadRequest(
        data: UploadPayload(
          temporaryExposureKeys: pending.uploadKeys, regions: [configuration.region],
          platform: configuration.platform, appPackageName: configuration.appPackageName,
          verificationPayload: pending.token, hmackey: pending.hmacSecret.base64EncodedString(),
          deviceVerificationPayload: pending.deviceVerificationPayload),
        isInteroperabilityEnabled: pending.isInteroperabilityEnabled))
  }

  func tokenRequest(_ request: AccessTokenRequest) throws -> NetworkRequest {
    let body = try RequestPadding.body(
      CallableRequest(data: request), length: RequestPadding.tokenRequestBytes,
      randomness: randomness
    ) {
      CallableRequest(data: $0.data, padding: $1)
    }
    let url = configuration.verificationServer
      .appendingPathComponent(VerificationRoute.accessToken)
    return NetworkRequest(url, body: body)
  }

  func uploadRequest(_ request: UploadRequest) throws -> NetworkRequest {
    let body = try RequestPadding.body(
      request, length: RequestPadding.uploadBytes, randomness: randomness
    ) { request, padding in
      var request = request
      request.padding = padding
      return request
    }
    let url = configuration.keyServer.appendingPathComponent(KeyServerRoute.upload)
    return NetworkRequest(url, body: body)
  }
}

/// Interprets the servers' responses.
enum UploadResponses {
  /// The token in the verification server's response.
  static func token(in response: NetworkResponse) throws(UploadFailure) -> String {
    switch response.status {
    case 200:
      let decoded = try? JSONDecoder().decode(
        CallableResponse<AccessTokenResponse>.self, from: response.body)
      guard let decoded else { throw .serverBusy(retryAfterSeconds: nil) }
      return decoded.result.accessToken
    case 400, 404: throw .pinRefused
    default: throw .serverBusy(retryAfterSeconds: response.retryAfterSeconds)
    }
  }

  /// Throws unless the key server accepted the keys.
  static func accepted(_ response: NetworkResponse) throws(UploadFailure) {
    switch response.status {
    case 200: return
    case 400, 401, 413, 415: throw .uploadRefused
    default: throw .serverBusy(retryAfterSeconds: response.retryAfterSeconds)
    }
  }
}

extension UploadFailure {
  /// Maps any error of an upload.
  init(_ error: any Error) {
    switch error {
    case let reason as UploadFailure: self = reason
    case is CancellationError: self = .stopped
    case let failure as StorageFailure: self = .storage(failure)
    case NetworkFailure.tooLarge: self = .serverBusy(retryAfterSeconds: nil)
    default: self = .noInternet
    }
  }
}

/// Pads all requests of a route to one length, so that uploads and decoys look alike on the network.
enum RequestPadding {
  /// The length of a token request, in bytes.
  static let tokenRequestBytes = 1 << 10
  /// The length of an upload, in bytes; it fits thirty keys, a token and an attestation.
  static let uploadBytes = 24 << 10

  /// The JSON of `request`, padded to `length` bytes.
  static func body<Request: Encodable>(
    _ request: Request, length: Int, randomness: any Randomness,
    padded: (Request, String) -> Request
  ) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bare = try encoder.encode(padded(request, ""))
    let missing = max(length - bare.count, 0)
    return try encoder.encode(padded(request, letters(missing, randomness)))
  }

  /// Random letters that JSON does not escape.
  static func letters(_ count: Int, _ randomness: any Randomness) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef".utf8)
    return String(
      decoding: randomness.bytes(count).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }
}
