import ExposureKeys

/// Which of the eight levels of a table applies. Documentation/RiskScoring.md 3 holds the edges.
package enum RiskLevel {
  /// From far to near: the least attenuation of each level but the last, less one.
  private static let attenuationEdges: [UInt8] = [73, 63, 51, 33, 27, 15, 10]
  /// From long ago to now: the fewest days of each level but the last.
  private static let dayEdges = [14, 12, 10, 8, 6, 4, 2]
  /// From short to long: the most minutes of each level but the last.
  private static let minuteEdges = [0, 5, 10, 15, 20, 25, 30]

  /// The level of an incident's attenuation.
  package static func of(attenuation: Attenuation) -> Int {
    attenuationEdges.firstIndex { attenuation.decibels > $0 } ?? attenuationEdges.count
  }

  /// The level of an exposure so many whole days ago.
  package static func of(days: Int) -> Int {
    dayEdges.firstIndex { days >= $0 } ?? dayEdges.count
  }

  /// The level of an exposure of so many minutes, rounded up.
  package static func of(minutes: Int) -> Int {
    minuteEdges.firstIndex { minutes <= $0 } ?? minuteEdges.count
  }

  /// The level of a key: what the authority gave it, 8 counting as 7.
  package static func of(transmissionRiskLevel: UInt8) -> Int {
    min(Int(transmissionRiskLevel), LevelTable.levelCount - 1)
  }
}
