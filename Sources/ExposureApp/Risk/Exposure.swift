import Foundation

/// One encounter with a diagnosed person, as the framework tells it, or all of one day where an app
/// judges exposure windows: no place, no person.
public struct Exposure: Codable, Hashable, Sendable, Identifiable {
  /// For the app's own lists.
  public let id: UUID
  /// The day of it, 00:00 UTC.
  public let date: Date
  /// How long it was, in seconds (the framework's own unit).
  public let durationSeconds: Double
  /// 0...4096, the product of the four tables; 0 where a policy has judged.
  public let riskScore: Int
  /// What a policy says of the day; nil where the score decides.
  public var judgement: DayJudgement?

  /// Whether `other` tells of the same encounter: a file that is analysed again brings it again.
  func isSame(as other: Exposure) -> Bool {
    date == other.date && durationSeconds == other.durationSeconds && riskScore == other.riskScore
  }
}
