import ExposureApp
import Foundation

/// The exposures of the last fourteen days, as a user interface explains them. The property names are the JSON keys,
/// and absent values are `null`.
package struct PhoneExposureDetails: Encodable, Hashable, Sendable {
  package let exposures: [ExposureRow]
  /// The version of the framework's interface: 1 or 2.
  package let version: Int

  /// An encounter, or a day of encounters.
  package struct ExposureRow: Encodable, Hashable, Sendable {
    package let id: String
    /// `YYYY-MM-DD`.
    package let date: String
    /// 0 to 3.
    package let riskLevel: Int
    package let seconds: Int
    /// The time by distance, from near to far.
    package let bands: [Band]
    /// The score of version 1; 0 in version 2.
    package let score: Int
    /// The weighted minutes of version 2.
    @Nullable package var normalizedMinutes: Double?
    /// True if the owner hides details; then there are none.
    package let hidden: Bool
  }

  /// The time within one range of attenuation.
  package struct Band: Encodable, Hashable, Sendable {
    /// In dB; `nil` for the farthest range.
    @Nullable package var maximumAttenuation: Int?
    package let seconds: Int
    package let weightPercent: Int
  }
}

extension PhoneExposureDetails.ExposureRow {
  init(_ exposure: Exposure, _ level: RiskLevel, isHidden: Bool) {
    self.init(
      id: exposure.id.uuidString, date: exposure.date.dayText, riskLevel: level.known ?? 0,
      seconds: isHidden ? 0 : Int(exposure.durationSeconds),
      bands: isHidden
        ? []
        : exposure.bands.map {
          PhoneExposureDetails.Band(
            maximumAttenuation: $0.maximumAttenuation, seconds: $0.seconds,
            weightPercent: $0.weightPercent)
        },
      score: isHidden ? 0 : exposure.riskScore,
      normalizedMinutes: isHidden ? nil : exposure.judgement?.normalizedMinutes, hidden: isHidden)
  }
}

/// The keys that an upload would share, without the keys themselves.
package struct PhoneUploadPreview: Encodable, Hashable, Sendable {
  package let keys: [Key]
  /// The host and port of the key server.
  package let receiver: String
  package let region: String

  /// A key of the owner.
  package struct Key: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let day: String
    /// 1 to 8.
    package let transmissionRisk: Int
    /// The number of ten-minute intervals.
    package let rollingPeriod: Int
  }
}
