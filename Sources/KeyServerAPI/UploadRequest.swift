// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Crypto
import Foundation
import Secrets
import TextEncodings

/// The body of `POST /uploadDiagnosisKeys`: the keys of a diagnosed user with their upload token.
///
/// It decodes both forms of the ProteGO Safe contract; the callable form has no
/// `isInteroperabilityEnabled`. See Documentation/ProteGOSafeContract.md, "Uploads".
public struct UploadRequest: Codable, Hashable, Sendable, Redacted {
  /// The upload itself.
  public var data: UploadPayload
  /// True if the user agreed to share the keys with other countries. Absent means no.
  public var isInteroperabilityEnabled: Bool?
  /// Base64 of random bytes, ignored. It makes a decoy as long as a real upload.
  public var padding: String?

  /// Creates a request.
  public init(data: UploadPayload, isInteroperabilityEnabled: Bool? = nil, padding: String? = nil) {
    self.data = data
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
    self.padding = padding
  }
}

/// The `data` of an `UploadRequest`.
public struct UploadPayload: Codable, Hashable, Sendable {
  /// The keys, 1...30.
  public var temporaryExposureKeys: [UploadKey]
  /// The regions of the keys, as two upper-case letters each: `PL`.
  public var regions: [String]
  /// `ios` or `android`.
  public var platform: String
  /// The bundle ID or package name of the app.
  public var appPackageName: String
  /// The upload token. Without one the server returns 401.
  public var verificationPayload: String?
  /// Base64 of the HMAC secret. Required if the token is bound to keys.
  public var hmackey: String?
  /// A `DeviceVerificationPayload` in base64. The server requires it from some platforms.
  public var deviceVerificationPayload: String?

  /// Creates a payload.
  public init(
    temporaryExposureKeys: [UploadKey], regions: [String], platform: String,
    appPackageName: String, verificationPayload: String?, hmackey: String? = nil,
    deviceVerificationPayload: String? = nil
  ) {
    self.temporaryExposureKeys = temporaryExposureKeys
    self.regions = regions
    self.platform = platform
    self.appPackageName = appPackageName
    self.verificationPayload = verificationPayload
    self.hmackey = hmackey
    self.deviceVerificationPayload = deviceVerificationPayload
  }
}

extension UploadPayload: Redacted {
  public var description: String { "UploadPayload(\(temporaryExposureKeys.count) keys)" }
}

/// Evidence that an upload comes from a genuine device, bound to the uploaded keys.
///
/// It is sent as base64 of the JSON `{deviceToken, transactionId, timestamp}`.
public struct DeviceVerificationPayload: Hashable, Sendable, Redacted {
  /// The token of the operating system's device check.
  public let deviceToken: Data
  /// Lower-case hex SHA-256 over app, keys and regions: see `transactionID(appPackageName:keys:regions:)`.
  public let transactionID: String
  /// The time of creation, in milliseconds since 1970.
  public let timestampMilliseconds: Int64

  /// Creates a payload to send.
  public init(deviceToken: Data, transactionID: String, timestampMilliseconds: Int64) {
    self.deviceToken = deviceToken
    self.transactionID = transactionID
    self.timestampMilliseconds = timestampMilliseconds
  }

  /// Decodes a payload, or returns nil if `base64` is invalid or longer than
  /// `UploadLimit.deviceVerificationBytesMax`.
  public init?(base64: String) {
    guard base64.utf8.count <= UploadLimit.deviceVerificationBytesMax,
      let json = Data(base64Encoded: base64),
      let wire = JSONDecoder().decodeIfValid(Wire.self, from: json)
    else { return nil }
    self.init(
      deviceToken: wire.deviceToken, transactionID: wire.transactionId,
      timestampMilliseconds: wire.timestamp)
  }

  /// The text to send.
  public var base64: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let wire = Wire(
      deviceToken: deviceToken, transactionId: transactionID, timestamp: timestampMilliseconds)
    return (encoder.encodeIfPossible(wire) ?? Data()).base64EncodedString()
  }

  /// SHA-256, in lower-case hex, over the app's name, the sorted base64 keys and the sorted
  /// upper-case regions, concatenated.
  public static func transactionID(
    appPackageName: String, keys: [UploadKey], regions: [String]
  ) -> String {
    let parts = [appPackageName] + sorted(keys.map(\.key)) + sorted(regions.map { $0.uppercased() })
    return SHA256.hash(data: Data(parts.joined().utf8)).hexadecimal
  }

  private static func sorted(_ texts: [String]) -> [String] {
    texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private struct Wire: Codable {
    var deviceToken: Data
    var transactionId: String
    var timestamp: Int64
  }
}

/// `{"result":""}`: the keys are stored. A repeated upload with the same token gets the same response.
public typealias UploadResponse = CallableResponse<String>

extension CallableResponse where Result == String {
  /// The response to an accepted upload.
  public static var accepted: UploadResponse { UploadResponse(result: "") }
}
