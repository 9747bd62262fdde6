import ExposureKeys
import Foundation

/// One Temporary Exposure Key as it travels in an upload, not yet looked at.
///
/// Documentation/SeedContract.md 4.1.
public struct UploadKey: Codable, Hashable, Sendable {
  /// Base64 of the 16 bytes. The text itself is kept: the HMAC and the transaction id are over it.
  public var key: String
  /// How many ten-minute intervals the key serves.
  public var rollingPeriod: UInt32
  /// The first interval the key serves.
  public var rollingStartNumber: UInt32
  /// The risk level, 0...8; absent is another text in the HMAC than 0.
  public var transmissionRisk: Int?

  /// A key in the words of the wire.
  public init(
    key: String, rollingPeriod: UInt32 = IntervalNumber.perDay, rollingStartNumber: UInt32,
    transmissionRisk: Int? = nil
  ) {
    self.key = key
    self.rollingPeriod = rollingPeriod
    self.rollingStartNumber = rollingStartNumber
    self.transmissionRisk = transmissionRisk
  }
}

extension UploadKey {
  /// The key itself, or nil where the text is not base64 or a number is out of bounds.
  ///
  /// `UploadLimit.breach(of:at:)` says which; this only refuses.
  public var diagnosisKey: DiagnosisKey? {
    guard let bytes = Data(base64Encoded: key),
      let risk = UInt8(exactly: transmissionRisk ?? 0),
      let key = TemporaryExposureKey(
        bytes: bytes, rollingStart: IntervalNumber(rawValue: rollingStartNumber),
        rollingPeriod: rollingPeriod)
    else { return nil }
    return DiagnosisKey(key: key, transmissionRiskLevel: risk)
  }
}

extension UploadKey: CustomStringConvertible, CustomReflectable {
  /// The key's kind and day only: its bytes tell where a person was.
  public var description: String { "UploadKey(from \(rollingStartNumber))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
