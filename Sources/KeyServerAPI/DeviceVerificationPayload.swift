import Crypto
import Foundation

/// The proof that an upload comes from a genuine device, bound to the keys it covers.
///
/// Documentation/SeedContract.md 4.4: base64 of JSON `{deviceToken, transactionId, timestamp}`.
public struct DeviceVerificationPayload: Hashable, Sendable {
  /// What the device check of the phone's system returned.
  public let deviceToken: Data
  /// Lower-case hex SHA-256 over app, keys and regions.
  public let transactionID: String
  /// When the phone made it, in milliseconds since 1970.
  public let timestampMilliseconds: Int64

  /// A proof to send.
  public init(deviceToken: Data, transactionID: String, timestampMilliseconds: Int64) {
    self.deviceToken = deviceToken
    self.transactionID = transactionID
    self.timestampMilliseconds = timestampMilliseconds
  }

  /// Nil unless `base64` is the text of a proof.
  public init?(base64: String) {
    guard base64.utf8.count <= UploadLimit.deviceVerificationBytesMax,
      let json = Data(base64Encoded: base64),
      let wire = try? JSONDecoder().decode(Wire.self, from: json)
    else { return nil }
    self.init(
      deviceToken: wire.deviceToken, transactionID: wire.transactionId,
      timestampMilliseconds: wire.timestamp)
  }

  /// The text that travels.
  public var base64: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let wire = Wire(
      deviceToken: deviceToken, transactionId: transactionID, timestamp: timestampMilliseconds)
    // Two strings and a whole number: there is nothing the encoder could refuse.
    return ((try? encoder.encode(wire)) ?? Data()).base64EncodedString()
  }

  /// SHA-256, in lower-case hex, over the app's name, the sorted base64 keys and the sorted
  /// upper-case regions, one after the other.
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

extension DeviceVerificationPayload: CustomStringConvertible, CustomReflectable {
  /// The kind only: the token stands for one device.
  public var description: String { "DeviceVerificationPayload" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
