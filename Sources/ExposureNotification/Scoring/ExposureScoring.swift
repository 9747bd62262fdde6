import ExposureKeys
import Foundation

/// Version 1: every exposure is worth the product of four table values.
///
/// Documentation/RiskScoring.md 4 and 5. The weights of a configuration are never used.
package struct ExposureScoring: Hashable, Sendable {
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
    let transmissionRisk = RiskLevel.of(transmissionRiskLevel: transmissionRiskLevel)
    return RiskScore(
      fullRange: transmissionRiskValues[transmissionRisk]
        * durationValues[RiskLevel.of(minutes: minutes)]
        * dayValues[RiskLevel.of(days: daysAgo)]
        * attenuationValues[RiskLevel.of(attenuation: attenuation)])
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
      RiskLevel.of(transmissionRiskLevel: incident.key.transmissionRiskLevel))
    scored.diagnosisReportType = ENDiagnosisReportType(incident.key.reportType)
    scored.daysSinceOnsetOfSymptoms = incident.key.usableDaysSinceOnset
    scored.score = score(
      attenuation: incident.attenuation, minutes: incident.minutes, daysAgo: daysAgo,
      transmissionRiskLevel: incident.key.transmissionRiskLevel)
    return scored
  }
}
