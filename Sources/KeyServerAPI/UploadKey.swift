// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Secrets

/// One Temporary Exposure Key of an `UploadRequest`, not yet validated.
public struct UploadKey: Codable, Hashable, Sendable {
  /// Base64 of the 16 bytes. The text is kept because the HMAC and the transaction ID use it.
  public var key: String
  /// The number of ten-minute intervals for which the key is valid.
  public var rollingPeriod: UInt32
  /// The first interval for which the key is valid.
  public var rollingStartNumber: UInt32
  /// The risk level, 0...8. The HMAC distinguishes an absent level from 0.
  public var transmissionRisk: Int?

  /// Creates a key.
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

extension UploadKey: Redacted {
  public var description: String { "UploadKey(from \(rollingStartNumber))" }
}
