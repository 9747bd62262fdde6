import Foundation

/// An encounter with a diagnosed user, or one day of exposure windows. It contains no place and no name.
public struct Exposure: Codable, Hashable, Sendable, Identifiable {
  /// An ID for the app's lists.
  public let id: UUID
  /// The day of the exposure, 00:00 UTC.
  public let date: Date
  /// The duration in seconds.
  public let durationSeconds: Double
  /// The full-range score, 0...4096; 0 for a day of exposure windows.
  public let riskScore: Int
  /// The policy's result for the day; `nil` if the score decides.
  public var judgement: DayJudgement?

  /// Returns `true` if both describe the same encounter; analysing a file again repeats its encounters.
  func isSame(as other: Exposure) -> Bool {
    date == other.date && durationSeconds == other.durationSeconds && riskScore == other.riskScore
  }
}

/// The result of a policy for one day of exposure windows.
public struct DayJudgement: Codable, Hashable, Sendable {
  /// The level of the day; `nil` below the lowest level.
  public let level: WindowRiskLevel?
  /// The minutes, weighted by distance and transmission risk.
  public let normalizedMinutes: Double
}

/// The result of one detection.
struct DetectionResult: Sendable {
  /// The number of keys that this phone has encountered.
  var matchedKeyCount = 0
  /// The encounters, or the days of exposure windows.
  var exposures: [Exposure] = []
  /// True if `exposures` covers all files of the last fourteen days, as in API version 2; false if it
  /// covers only the files of this detection.
  var coversAllFiles = false
}
