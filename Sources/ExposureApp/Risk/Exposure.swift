import Foundation

/// One encounter with a diagnosed person, as the framework tells it: no place, no person.
public struct Exposure: Codable, Hashable, Sendable, Identifiable {
  /// For the app's own lists.
  public let id: UUID
  /// The day of it, 00:00 UTC.
  public let date: Date
  /// How long it was, in seconds (the framework's own unit).
  public let durationSeconds: Double
  /// 0...4096, the product of the four tables.
  public let riskScore: Int

  /// Whether `other` tells of the same encounter: a file that is analysed again brings it again.
  func isSame(as other: Exposure) -> Bool {
    date == other.date && durationSeconds == other.durationSeconds && riskScore == other.riskScore
  }
}
