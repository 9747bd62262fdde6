// SPDX-License-Identifier: Apache-2.0
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

  /// Validates `configuration`. Durations are rounded up to a multiple of `durationStep` minutes. `scores` are the
  /// valid minimum scores.
  ///
  /// - Throws: `ENError.badParameter` with an explanation that names the field.
  package init(
    _ configuration: ENExposureConfiguration, durationStep: Int = 1,
    scores: ClosedRange<Double> = ConfigurationFields.fullRange
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
    minimumFullRange = try fields.minimumFullRange(of: scores)
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

/// An encounter with another device: successive scans that received beacons of one key, without a long gap.
package struct ExposureIncident: Hashable, Sendable {
  /// The longest gap in seconds within one incident: two scans may miss a device.
  package static let longestGap: TimeInterval = 10 * 60
  /// Seconds between two scans. Half of it is added at each end of an incident.
  package static let scanInterval: TimeInterval = 5 * 60
  /// The longest duration in seconds that is reported to an app.
  package static let longestDuration = 30 * 60

  package let key: DiagnosisKey
  /// The attenuations in the order of time, each with its duration.
  package let spans: [Span]

  package struct Span: Hashable, Sendable {
    package let seconds: TimeInterval
    package let attenuation: Attenuation
  }

  /// Creates an incident; `scans` must be sorted by time and not empty.
  init(key: DiagnosisKey, scans: some Collection<MatchedScan>) {
    let times = scans.map(\.time.timeIntervalSince1970)
    let starts = times.prefix(1).map { $0 - Self.scanInterval / 2 } + times.dropFirst()
    let ends = times.dropFirst() + times.suffix(1).map { $0 + Self.scanInterval / 2 }
    self.key = key
    spans = zip(zip(starts, ends), scans).map { span, scan in
      Span(seconds: span.1 - span.0, attenuation: scan.minimumAttenuation)
    }
  }

  /// Creates an incident of `spans`, of which the last ones are shortened to `seconds` in total.
  private init(key: DiagnosisKey, spans: [Span], atMost seconds: TimeInterval) {
    var rest = seconds
    self.key = key
    self.spans = spans.compactMap { span in
      let counted = min(span.seconds, rest)
      rest -= counted
      return counted > 0 ? Span(seconds: counted, attenuation: span.attenuation) : nil
    }
  }
}

extension ExposureIncident {
  /// The incidents of `match` in the order of time.
  package static func incidents(of match: KeyMatch) -> [ExposureIncident] {
    let scans = match.sightings.scans
    let starts = scans.indices.filter { index in
      index == 0 || scans[index].time.timeIntervalSince(scans[index - 1].time) > longestGap
    }
    return zip(starts, starts.dropFirst() + [scans.count]).map { start, end in
      let incident = ExposureIncident(key: match.key, scans: scans[start..<end])
      return ExposureIncident(
        key: match.key, spans: incident.spans,
        atMost: ReplayRule.longestDuration(of: scans[start..<end]))
    }
  }

  /// The duration in seconds, including half a scan interval before the first scan and after the last.
  package var exactDuration: TimeInterval { spans.reduce(0) { $0 + $1.seconds } }

  /// The duration in minutes, rounded up.
  package var minutes: Int { Int((exactDuration / 60).rounded(.up)) }

  /// The reported duration: seconds, rounded up to a multiple of `step` minutes, at most `longestDuration`.
  package func duration(step: Int = 1) -> Int {
    let steps = (minutes + step - 1) / step
    return min(steps * step * 60, Self.longestDuration)
  }

  /// The mean attenuation, weighted by duration.
  package var attenuation: Attenuation {
    let sum = spans.reduce(0) { $0 + $1.seconds * Double($1.attenuation.decibels) }
    let mean = (sum / exactDuration).rounded(.toNearestOrAwayFromZero)
    return Attenuation(decibels: UInt8(clamping: Int(mean)))
  }

  /// Seconds of the first `longestDuration` in each attenuation range, from near to far.
  package func durations(at thresholds: [UInt8]) -> [Int] {
    var rest = TimeInterval(Self.longestDuration)
    var seconds = [TimeInterval](repeating: 0, count: thresholds.count + 1)
    for span in spans {
      seconds[AttenuationRange.index(of: span.attenuation.decibels, thresholds: thresholds)] +=
        min(span.seconds, rest)
      rest -= min(span.seconds, rest)
    }
    return seconds.map { Int($0.rounded(.down)) }
  }
}

/// An exposure of version 1 with its score.
package struct ScoredIncident: Hashable, Sendable {
  /// Midnight UTC of the key's day.
  package var date = Date(timeIntervalSince1970: 0)
  /// Whole minutes in seconds, at most 1,800.
  package var duration = 0
  /// The mean attenuation, weighted by duration.
  package var attenuation = Attenuation(decibels: 0)
  /// Seconds in each attenuation range, from near to far.
  package var attenuationDurations: [Int] = []
  /// The key's level, 0...7.
  package var transmissionRiskLevel: UInt8 = 0
  package var diagnosisReportType = ENDiagnosisReportType.unknown
  package var daysSinceOnsetOfSymptoms: Int?
  package var score = RiskScore(fullRange: 0)

  package init() {}
}

extension ReplayRule {
  /// The time in seconds for which a device sends the identifiers that `scans` received. An encounter lasts no
  /// longer, although the time before its first and after its last scan is estimated.
  static func longestDuration(of scans: some Sequence<MatchedScan>) -> TimeInterval {
    let identifiers = scans.reduce(into: Set<IntervalNumber>()) { $0.formUnion($1.identifiers) }
    return Double(identifiers.count) * identifierLifetime
  }
}
