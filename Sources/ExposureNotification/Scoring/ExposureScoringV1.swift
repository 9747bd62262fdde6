import ExposureKeys
import Foundation

/// Scoring of API version 1: the score of an exposure is the product of four table values.
///
/// The weights of a configuration are validated but not used, as Apple documents.
package struct ExposureScoringV1: Hashable, Sendable {
  private let attenuationValues: LevelTable
  private let dayValues: LevelTable
  private let durationValues: LevelTable
  private let transmissionRiskValues: LevelTable
  private let thresholds: [UInt8]
  private let minimumScore: UInt8
  private let minimumFullRange: Double
  private let durationStep: Int

  /// Validates `configuration`. Durations are rounded up to a multiple of `durationStep` minutes.
  ///
  /// - Throws: `ENError.badParameter` with an explanation that names the field.
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

  /// Scores `matches` at the time `now`.
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

  /// True if the exposure reaches the minimum scores.
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

/// A score of version 1, 0...4,096.
package struct RiskScore: Hashable, Comparable, Sendable {
  /// The product of the four table values.
  package let fullRange: Int
  /// The score limited to 255, as in the first release of the API.
  package var capped: UInt8 { UInt8(clamping: fullRange) }

  package init(fullRange: Int) {
    self.fullRange = fullRange
  }

  package static func < (left: RiskScore, right: RiskScore) -> Bool {
    left.fullRange < right.fullRange
  }
}

/// The level (0...7) of a value in a score table.
package enum RiskScoreLevel {
  /// The exclusive lower bound of each level but the last, farthest first.
  private static let attenuationEdges: [UInt8] = [73, 63, 51, 33, 27, 15, 10]
  /// The lower bound of each level but the last, oldest first.
  private static let dayEdges = [14, 12, 10, 8, 6, 4, 2]
  /// The upper bound of each level but the last, shortest first.
  private static let minuteEdges = [0, 5, 10, 15, 20, 25, 30]

  package static func of(attenuation: Attenuation) -> Int {
    attenuationEdges.firstIndex { attenuation.decibels > $0 } ?? attenuationEdges.count
  }

  /// The level of an exposure `days` whole days ago.
  package static func of(days: Int) -> Int {
    dayEdges.firstIndex { days >= $0 } ?? dayEdges.count
  }

  /// The level of an exposure of `minutes`, rounded up.
  package static func of(minutes: Int) -> Int {
    minuteEdges.firstIndex { minutes <= $0 } ?? minuteEdges.count
  }

  /// The level of a key: the stated transmission risk level, with 8 counted as 7.
  package static func of(transmissionRiskLevel: UInt8) -> Int {
    min(Int(transmissionRiskLevel), LevelTable.levelCount - 1)
  }
}

/// A health authority's values for the eight levels of a quantity.
package struct LevelTable: Hashable, Sendable {
  package static let levelCount = 8
  /// The valid values. A value of 0 makes the whole score 0.
  package static let values = 0...8

  private let values: [Int]

  /// Returns nil unless there are eight valid values.
  package init?(_ values: [Int]) {
    guard values.count == Self.levelCount, values.allSatisfy(Self.values.contains) else {
      return nil
    }
    self.values = values
  }

  /// The value of `level`; levels beyond the last count as the last.
  package subscript(level: Int) -> Int { values[min(max(level, 0), Self.levelCount - 1)] }
}
