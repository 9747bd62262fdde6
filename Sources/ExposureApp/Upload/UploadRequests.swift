// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import StrictJSON
import TextEncodings
import VerificationAPI
import World

/// Builds the two requests of an upload. Each body is built in one place in memory, which is overwritten
/// when the request is released.
struct UploadRequests: Sendable {
  let configuration: AppConfiguration
  let randomness: any Randomness

  /// Requests a token for the PIN, bound to the keys, and a permit for the keys of the following days.
  func token(for pending: PendingUpload, pin: PIN) -> NetworkRequest {
    tokenRequest { data in
      data.append(#""code":""#)
      data.append(pin.bytes)
      data.append(#"","ekeyhmac":""#)
      data.appendBase64(pending.keyHMAC)
      data.append(#"","wantsFollowUp":true"#)
    }
  }

  /// Requests a token for the permit, bound to the keys.
  func token(for pending: PendingUpload, permit: ZeroingBytes) -> NetworkRequest {
    tokenRequest { data in
      data.append(#""followUp":""#)
      data.append(permit)
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
    return String(decoding: randomness.bytes(count).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
  }
}

/// Interprets the servers' responses.
enum UploadResponses {
  /// The permit for the following days in the response with a token; `nil` from a server that gives none.
  static func permit(in response: NetworkResponse) -> ZeroingBytes? {
    response.status == 200 ? text("followUp", in: response.body) : nil
  }

  /// The token in the verification server's response.
  static func token(in response: NetworkResponse) throws(UploadFailure) -> ZeroingBytes {
    switch response.status {
    case 200:
      guard let token = text("accessToken", in: response.body) else {
        throw .serverBusy(retryAfterSeconds: nil)
      }
      return token
    case 400, 404: throw refusal(in: response, by: ["INVALID_ARGUMENT", "NOT_FOUND"], .pinRefused)
    default: throw .serverBusy(retryAfterSeconds: response.retryAfterSeconds)
    }
  }

  /// Throws unless the key server accepted the keys.
  static func accepted(_ response: NetworkResponse) throws(UploadFailure) {
    switch response.status {
    case 200 where isAcceptance(response): return
    case 400, 401, 413, 415:
      throw refusal(in: response, by: ["INVALID_ARGUMENT", "UNAUTHENTICATED"], .uploadRefused)
    default: throw .serverBusy(retryAfterSeconds: response.retryAfterSeconds)
    }
  }

  /// The `refusal` for `{"error":{"message":"...","status":"..."}}` with one of `statuses`. Proxies send other forms
  /// with the same HTTP statuses; then the server is busy.
  private static func refusal(
    in response: NetworkResponse, by statuses: Set<String>, _ refusal: UploadFailure
  ) -> UploadFailure {
    if let error = JSONValue(json: response.body)?["error"], error["message"]?.string != nil,
      let status = error["status"]?.string, statuses.contains(status)
    {
      return refusal
    }
    return .serverBusy(retryAfterSeconds: response.retryAfterSeconds)
  }

  /// True for `{"result":...}`, with or without warnings and padding, or an empty object. Proxies and sign-in pages
  /// send other content with status 200.
  private static func isAcceptance(_ response: NetworkResponse) -> Bool {
    guard case .object(let fields)? = JSONValue(json: response.body) else { return false }
    return fields.keys.allSatisfy(["result", "warnings", "padding"].contains)
  }

  /// The value of a field of `result`. The bytes are read in place: the copies of a JSON decoder would
  /// stay in memory. A token has only characters that JSON does not escape.
  private static func text(_ field: StaticString, in body: Data) -> ZeroingBytes? {
    var bytes = [UInt8](body)
    defer { bytes.zero() }
    guard let position = position(of: field, in: bytes) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      let token = bytes[position]
      let isToken =
        (1...UploadLimit.tokenBytesMax).contains(token.count) && token.allSatisfy(isOfToken)
      return isToken ? ZeroingBytes(copying: token) : nil
    }
  }

  /// The position of the value in a response of the form `{"result":{"accessToken":"..."}}`, whose other fields are
  /// ignored.
  private static func position(of field: StaticString, in bytes: [UInt8]) -> Range<Int>? {
    var cursor = JSONCursor(bytes)
    let depth = StrictJSONValidator.depthMax
    do {
      let position = try cursor.member("result", depth: depth) { (result) throws(StrictJSONError) in
        try result.member(field, depth: depth) { (token) throws(StrictJSONError) in
          try token.plainString()
        }
      }
      try cursor.end()
      return position ?? nil
    } catch { return nil }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
  }
}

/// Requests that hide real uploads: same routes, same lengths, no content.
public enum Decoys {
  /// The time between two decoys of one phone, in seconds, drawn at random for each.
  public static let intervalSeconds = 12 * 3_600...60 * 3_600

  /// The header that marks a decoy for the server; TLS hides it from the network.
  static let header = "X-Chaff"
}

extension NetworkRequest {
  /// True for a decoy. Only the server and the phone can see the header.
  public var isDecoy: Bool { headers[Decoys.header] != nil }
}

extension UploadRequests {
  /// A token request and an upload without content, as long as real ones.
  func decoys() -> [NetworkRequest] {
    [tokenDecoy(), decoy(uploadRequest(keys: [], fields: { _ in }, end: { _ in }))]
  }

  /// A token request without content.
  func tokenDecoy() -> NetworkRequest { decoy(tokenRequest { _ in }) }

  private func decoy(_ request: NetworkRequest) -> NetworkRequest {
    var request = request
    request.headers[Decoys.header] = "1"
    return request
  }
}
