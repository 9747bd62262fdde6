import ExposureKeys
import Foundation

/// Version 1: every exposure is worth the product of four table values.
///
/// Documentation/RiskScoring.md 4 and 5. The weights of a configuration are never used.
package struct ExposureScoringV1: Hashable, Sendable {
  private let attenuationValues: LevelTable
  private let dayValues: LevelTable
  private let durationValues: LevelTable
  private let transmissionRiskValues: LevelTable
  private let thresholds: [UInt8]
  private let minimumScore: UInt8
  private let minimumFullRange: Double
  private let durationStep: Int

  /// Takes over `configuration`; durations go up to a multiple of `durationStep` minutes.
  ///
  /// Throws `ENError.badParameter` with a sentence that names the field.
  package init(
    _ configuration: ENExposureConfiguration, durationStep: Int = 1
  ) throws(ENError) {
    self.durationStep = durationStep
    let fields = ConfigurationFields(configuration)
    attenuationValues = try fields.table(
      "attenuationLevelValues", configuration.attenuationLevelValues)
    dayValues = try fields.table(
      "daysSinceLastExposureLevelValues", configuration.daysSinceLastExposureLevelValues)
    durationValues = try fields.table("durationLevelValues", configuration.durationLevelValues)
    transmissionRiskValues = try fields.table(
      "transmissionRiskLevelValues", configuration.transmissionRiskLevelValues)
    thresholds = try fields.thresholds(counts: 2...3)
    minimumScore = configuration.minimumRiskScore
    minimumFullRange = try fields.minimumFullRange()
    try fields.checkUnusedWeights()
  }

  /// What `matches` amount to at `now`.
  package func result(of matches: [KeyMatch], now: Date) -> DetectionResult {
    let incidents = matches.flatMap { match in
      ExposureIncident.incidents(of: match).map { scored($0, daysAgo: match.age(at: now)) }
    }
    let kept = incidents.filter(passes)
    var summary = ExposureSummary()
    summary.matchedKeyCount = matches.count
    summary.daysSinceLastExposure = matches.map { $0.age(at: now) }.min() ?? 0
    summary.maximumScore = kept.map(\.score).max() ?? RiskScore(fullRange: 0)
    summary.scoreSumFullRange = kept.reduce(0) { $0 + $1.score.fullRange }
    summary.attenuationDurations = (0...thresholds.count).map { range in
      kept.reduce(0) { $0 + $1.attenuationDurations[range] }
    }
    return DetectionResult(found: summary, incidents: kept)
  }

  /// The four values multiplied.
  package func score(
    attenuation: Attenuation, minutes: Int, daysAgo: Int, transmissionRiskLevel: UInt8
  ) -> RiskScore {
    let transmissionRisk = RiskScoreLevel.of(transmissionRiskLevel: transmissionRiskLevel)
    return RiskScore(
      fullRange: transmissionRiskValues[transmissionRisk]
        * durationValues[RiskScoreLevel.of(minutes: minutes)]
        * dayValues[RiskScoreLevel.of(days: daysAgo)]
        * attenuationValues[RiskScoreLevel.of(attenuation: attenuation)])
  }

  /// Whether an exposure scores enough for an app to be told.
  private func passes(_ incident: ScoredIncident) -> Bool {
    Double(incident.score.fullRange) >= minimumFullRange && incident.score.capped >= minimumScore
  }

  private func scored(_ incident: ExposureIncident, daysAgo: Int) -> ScoredIncident {
    var scored = ScoredIncident()
    scored.date = incident.key.key.rollingStart.startOfDay.date
    scored.duration = incident.duration(step: durationStep)
    scored.attenuation = incident.attenuation
    scored.attenuationDurations = incident.durations(at: thresholds)
    scored.transmissionRiskLevel = UInt8(
      RiskScoreLevel.of(transmissionRiskLevel: incident.key.transmissionRiskLevel))
    scored.diagnosisReportType = ENDiagnosisReportType(incident.key.reportType)
    scored.daysSinceOnsetOfSymptoms = incident.key.usableDaysSinceOnset
    scored.score = score(
      attenuation: incident.attenuation, minutes: incident.minutes, daysAgo: daysAgo,
      transmissionRiskLevel: incident.key.transmissionRiskLevel)
    return scored
  }
}

/// A score of version 1: the product of four table values, 0...4,096.
package struct RiskScore: Hashable, Comparable, Sendable {
  /// The product itself.
  package let fullRange: Int
  /// The product as old apps know it, at most 255.
  package var capped: UInt8 { UInt8(clamping: fullRange) }

  /// A score with this product.
  package init(fullRange: Int) {
    self.fullRange = fullRange
  }

  package static func < (left: RiskScore, right: RiskScore) -> Bool {
    left.fullRange < right.fullRange
  }
}

/// Which of the eight levels of a table applies. Documentation/RiskScoring.md 3 holds the edges.
package enum RiskScoreLevel {
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

/// Eight values that the health authority gives to the eight levels of something.
package struct LevelTable: Hashable, Sendable {
  /// How many levels there are.
  package static let levelCount = 8
  /// What a level may be worth; 0 makes the whole score 0.
  package static let values = 0...8

  private let values: [Int]

  /// Nil unless there are eight values, each within `values`.
  package init?(_ values: [Int]) {
    guard values.count == Self.levelCount, values.allSatisfy(Self.values.contains) else {
      return nil
    }
    self.values = values
  }

  /// The value of `level`; levels beyond the last count as the last.
  package subscript(level: Int) -> Int { values[min(max(level, 0), Self.levelCount - 1)] }
}
