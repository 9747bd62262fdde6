import ExposureKeys
import Foundation

/// One exposure of version 1 with its score (Documentation/RiskScoring.md 2 to 4).
package struct ScoredIncident: Hashable, Sendable {
  /// Midnight UTC of the day of the key.
  package var date = Date(timeIntervalSince1970: 0)
  /// Seconds: whole minutes, at most 1,800.
  package var duration = 0
  /// The time-weighted mean.
  package var attenuation = Attenuation(decibels: 0)
  /// Seconds in each range of attenuation, from near to far.
  package var attenuationDurations: [Int] = []
  /// The level of the key, 0...7.
  package var transmissionRiskLevel: UInt8 = 0
  /// What the diagnosis rests on.
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  /// Days from the first symptoms, where known.
  package var daysSinceOnsetOfSymptoms: Int?
  /// The product of the four table values.
  package var score = RiskScore(fullRange: 0)

  /// No exposure.
  package init() {}
}
