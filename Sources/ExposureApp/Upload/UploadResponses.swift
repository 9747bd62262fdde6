import Foundation
import KeyServerAPI
import Secrets
import StrictJSON

/// Interprets the servers' responses.
enum UploadResponses {
  /// The token in the verification server's response.
  static func token(in response: NetworkResponse) throws(UploadFailure) -> ZeroingBytes {
    switch response.status {
    case 200:
      guard let token = token(in: response.body) else {
        throw .serverBusy(retryAfterSeconds: nil)
      }
      return token
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

  /// The value of `accessToken` in `result`. The bytes are read in place: the copies of a JSON decoder would
  /// stay in memory. A token has only characters that JSON does not escape.
  private static func token(in body: Data) -> ZeroingBytes? {
    var bytes = [UInt8](body)
    defer { bytes.zero() }
    guard let position = tokenPosition(in: bytes) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      let token = bytes[position]
      let isToken =
        (1...UploadLimit.tokenBytesMax).contains(token.count) && token.allSatisfy(isOfToken)
      return isToken ? ZeroingBytes(copying: token) : nil
    }
  }

  /// The position of the token in a response of the form `{"result":{"accessToken":"..."}}`, whose other fields
  /// are ignored.
  private static func tokenPosition(in bytes: [UInt8]) -> Range<Int>? {
    var cursor = JSONCursor(bytes)
    let depth = StrictJSONValidator.depthMax
    do {
      let position = try cursor.member("result", depth: depth) { (result) throws(StrictJSONError) in
        try result.member("accessToken", depth: depth) { (token) throws(StrictJSONError) in
          try token.plainString()
        }
      }
      try cursor.end()
      return position ?? nil
    } catch {
      return nil
    }
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
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
    case is NetworkFailure: self = .noInternet
    default: self = .systemFailed
    }
  }
}
