import Crypto
import Foundation
import Secrets

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
      let wire = try? JSONDecoder().decode(Wire.self, from: json)
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
    // Encoding two strings and an integer cannot fail.
    return ((try? encoder.encode(wire)) ?? Data()).base64EncodedString()
  }

  /// SHA-256, in lower-case hex, over the app's name, the sorted base64 keys and the sorted
  /// upper-case regions, concatenated.
  public static func transactionID(
    appPackageName: String, keys: [UploadKey], regions: [String]
  ) -> String {
    let parts = [appPackageName] + sorted(keys.map(\.key)) + sorted(regions.map { $0.uppercased() })
    return SHA256.hash(data: Data(parts.joined().utf8))
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
