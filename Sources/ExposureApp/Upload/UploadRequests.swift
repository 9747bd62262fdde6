import Foundation
import KeyServerAPI
import Secrets
import VerificationAPI
import World

/// Builds the two requests of an upload. Each body is built in one place in memory, which is overwritten
/// when the request is released.
struct UploadRequests: Sendable {
  let configuration: AppConfiguration
  let randomness: any Randomness

  /// Requests a token for the PIN, bound to the keys.
  func token(for pending: PendingUpload) -> NetworkRequest {
    tokenRequest { data in
      data.append(#""code":""#)
      data.append(pending.pin.bytes)
      data.append(#"","ekeyhmac":""#)
      data.appendBase64(pending.keyHMAC)
      data.append(#"""#)
    }
  }

  /// Uploads the keys with the token.
  func upload(_ pending: PendingUpload) -> NetworkRequest {
    uploadRequest(keys: pending.keys) { body in
      if let payload = pending.deviceVerificationPayload {
        body.append(#","deviceVerificationPayload":"#)
        body.appendJSON(payload)
      }
      body.append(#","hmackey":""#)
      body.appendBase64(pending.hmacSecret)
      body.append(#"""#)
      if let token = pending.token {
        body.append(#","verificationPayload":""#)
        body.append(token)
        body.append(#"""#)
      }
    } end: {
      $0.append(#","isInteroperabilityEnabled":\#(pending.isInteroperabilityEnabled)"#)
    }
  }

  /// A token request with these fields in its data.
  func tokenRequest(_ fields: (inout SecretText) -> Void) -> NetworkRequest {
    var body = SecretText()
    body.append(#"{"data":{"#)
    fields(&body)
    body.append("}")
    return NetworkRequest(
      configuration.verificationServer.appendingPathComponent(VerificationRoute.accessToken),
      body: padded(body, to: RequestPadding.tokenRequestBytes))
  }

  /// An upload of keys, with more fields in its data and at its end.
  func uploadRequest(
    keys: [ReleasedKey], fields: (inout SecretText) -> Void, end: (inout SecretText) -> Void
  ) -> NetworkRequest {
    var body = SecretText()
    body.append(#"{"data":{"appPackageName":"#)
    body.appendJSON(configuration.appPackageName)
    body.append(#","platform":"#)
    body.appendJSON(configuration.platform)
    body.append(#","regions":["#)
    for (index, region) in configuration.uploadRegions.enumerated() {
      if index > 0 { body.append(",") }
      body.appendJSON(region)
    }
    body.append(#"],"temporaryExposureKeys":["#)
    for (index, key) in keys.enumerated() { body.append(key, isFirst: index == 0) }
    body.append("]")
    fields(&body)
    body.append("}")
    end(&body)
    return NetworkRequest(
      configuration.keyServer.appendingPathComponent(KeyServerRoute.upload),
      body: padded(body, to: RequestPadding.uploadBytes))
  }

  /// Adds the padding, the last field of every request.
  private func padded(_ body: SecretText, to length: Int) -> Data {
    var body = body
    body.append(#","padding":""#)
    let end = #""}"#
    let missing = max(length - body.count - end.utf8.count, 0)
    body.append(RequestPadding.letters(missing, randomness) + end)
    return body.bytes().data
  }
}

extension SecretText {
  /// Appends a key of an upload as JSON.
  fileprivate mutating func append(_ key: ReleasedKey, isFirst: Bool) {
    append(isFirst ? #"{"key":""# : #",{"key":""#)
    append(key.base64)
    append(#"","rollingPeriod":\#(key.rollingPeriod)"#)
    append(#","rollingStartNumber":\#(key.rollingStartNumber)"#)
    append(#","transmissionRisk":\#(key.transmissionRisk)}"#)
  }
}

/// Pads all requests of a route to one length, so that uploads and decoys look alike on the network.
enum RequestPadding {
  /// The length of a token request, in bytes.
  static let tokenRequestBytes = 1 << 10
  /// The length of an upload, in bytes; it fits thirty keys, a token and an attestation.
  static let uploadBytes = 24 << 10

  /// Random letters that JSON does not escape.
  static func letters(_ count: Int, _ randomness: any Randomness) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef".utf8)
    return String(
      decoding: randomness.bytes(count).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }
}
