import CallableEnvelope
import Foundation
import KeyServerAPI
import VerificationAPI
import World

/// The two requests of an upload, and their decoys, in the words of the wire.
struct UploadRequests: Sendable {
  /// The header by which a server knows a decoy; it is encrypted on the way like all the rest.
  static let decoyHeader = "X-Chaff"

  let configuration: AppConfiguration
  let randomness: any Randomness

  /// Asks for the token of the pending upload's PIN, bound to its keys.
  func token(for pending: PendingUpload) throws -> NetworkRequest {
    try tokenRequest(
      AccessTokenRequest(code: pending.pin, ekeyhmac: pending.keyHMAC.base64EncodedString()))
  }

  /// Uploads the keys under the token.
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

  /// A token request and an upload that mean nothing, of the same lengths as real ones.
  func decoys() throws -> [NetworkRequest] {
    let payload = UploadPayload(
      temporaryExposureKeys: [], regions: [configuration.region],
      platform: configuration.platform, appPackageName: configuration.appPackageName,
      verificationPayload: nil)
    var requests = [
      try tokenRequest(AccessTokenRequest(code: nil)),
      try uploadRequest(UploadRequest(data: payload)),
    ]
    for index in requests.indices { requests[index].headers[Self.decoyHeader] = "1" }
    return requests
  }

  private func tokenRequest(_ request: AccessTokenRequest) throws -> NetworkRequest {
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

  private func uploadRequest(_ request: UploadRequest) throws -> NetworkRequest {
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
