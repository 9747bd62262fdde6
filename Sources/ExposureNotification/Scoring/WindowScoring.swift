import Foundation

/// Scoring of API version 2: the score of a window is its duration, weighted by attenuation, infectiousness
/// and report type.
package struct WindowScoring: Hashable, Sendable {
  private let thresholds: [UInt8]
  private let rangeFactors: [Double]
  private let infectiousnessFactors: [ENInfectiousness: Double]
  private let reportTypeFactors: [ENDiagnosisReportType: Double]
  private let minimumScore: Double
  private let oldestDays: Int

  /// - Throws: `ENError.badParameter` with an explanation that names the field.
  package init(_ configuration: ENExposureConfiguration) throws(ENError) {
    let fields = ConfigurationFields(configuration)
    thresholds = try fields.thresholds(counts: 3...3)
    rangeFactors = [
      try fields.factor("immediateDurationWeight", configuration.immediateDurationWeight),
      try fields.factor("nearDurationWeight", configuration.nearDurationWeight),
      try fields.factor("mediumDurationWeight", configuration.mediumDurationWeight),
      try fields.factor("otherDurationWeight", configuration.otherDurationWeight),
    ]
    infectiousnessFactors = try Self.infectiousnessFactors(configuration)
    reportTypeFactors = try Self.reportTypeFactors(configuration)
    minimumScore = try fields.minimumFullRange()
    guard configuration.daysSinceLastExposureThreshold >= 0 else {
      throw ConfigurationFields.invalid(
        "daysSinceLastExposureThreshold", "needs a number of days, or 0 for no limit")
    }
    oldestDays = configuration.daysSinceLastExposureThreshold
  }

  /// Scores `windows` by day, oldest first. Days without a window that reaches the minimum are absent.
  package func days(of windows: [ExposureWindow], today: Date) -> [DaySummary] {
    let scored = windows.filter { isRecent($0, today: today) }
      .map { (window: $0, duration: weightedDuration(of: $0), score: score(of: $0)) }
      .filter { $0.score >= minimumScore }
    let days = Dictionary(grouping: scored) { Day(of: $0.window.date) }
    return days.sorted { $0.key < $1.key }.map { day, windows in
      windows.reduce(into: DaySummary(date: day.midnight)) { day, next in
        day.add(next.window.diagnosisReportType, duration: next.duration, score: next.score)
      }
    }
  }

  /// The duration in seconds, weighted by attenuation.
  package func weightedDuration(of window: ExposureWindow) -> Double {
    window.scanInstances.reduce(0) { sum, scan in
      let range = AttenuationRange.index(of: scan.typicalAttenuation, thresholds: thresholds)
      return sum + Double(scan.secondsSinceLastScan) * rangeFactors[range]
    }
  }

  /// The exposure risk value in seconds.
  package func score(of window: ExposureWindow) -> Double {
    weightedDuration(of: window) * infectiousnessFactors[window.infectiousness, default: 0]
      * reportTypeFactors[window.diagnosisReportType, default: 0]
  }

  private func isRecent(_ window: ExposureWindow, today: Date) -> Bool {
    oldestDays == 0 || Day(of: window.date).count(to: Day(of: today)) <= oldestDays
  }

  private static func infectiousnessFactors(
    _ configuration: ENExposureConfiguration
  ) throws(ENError) -> [ENInfectiousness: Double] {
    let fields = ConfigurationFields(configuration)
    return [
      .standard: try fields.factor(
        "infectiousnessStandardWeight", configuration.infectiousnessStandardWeight),
      .high: try fields.factor(
        "infectiousnessHighWeight", configuration.infectiousnessHighWeight),
    ]
  }

  private static func reportTypeFactors(
    _ configuration: ENExposureConfiguration
  ) throws(ENError) -> [ENDiagnosisReportType: Double] {
    let fields = ConfigurationFields(configuration)
    return [
      .confirmedTest: try fields.factor(
        "reportTypeConfirmedTestWeight", configuration.reportTypeConfirmedTestWeight),
      .confirmedClinicalDiagnosis: try fields.factor(
        "reportTypeConfirmedClinicalDiagnosisWeight",
        configuration.reportTypeConfirmedClinicalDiagnosisWeight),
      .selfReported: try fields.factor(
        "reportTypeSelfReportedWeight", configuration.reportTypeSelfReportedWeight),
      .recursive: try fields.factor(
        "reportTypeRecursiveWeight", configuration.reportTypeRecursiveWeight),
    ]
  }
}

/// The exposures of one UTC day in version 2.
package struct DaySummary: Hashable, Sendable {
  package let date: Date
  /// The sums for each report type with exposures.
  package var byReportType: [ENDiagnosisReportType: ExposureSums] = [:]
  /// The sums over all report types.
  package var total = ExposureSums()

  package init(date: Date) {
    self.date = date
  }

  mutating func add(_ reportType: ENDiagnosisReportType, duration: Double, score: Double) {
    byReportType[reportType, default: ExposureSums()].add(duration: duration, score: score)
    total.add(duration: duration, score: score)
  }
}

/// Sums of exposure risk in version 2, in seconds. They are exact; rounding happens when an app reads them.
package struct ExposureSums: Hashable, Sendable {
  /// The highest score of a window.
  package var maximumScore: Double = 0
  /// The sum of the scores.
  package var scoreSum: Double = 0
  /// The sum of the durations, weighted by attenuation alone.
  package var weightedDurationSum: Double = 0

  package init() {}

  mutating func add(duration: Double, score: Double) {
    maximumScore = max(maximumScore, score)
    scoreSum += score
    weightedDurationSum += duration
  }

  /// The highest score, rounded to the nearest minute.
  package var roundedMaximumScore: Double { Self.minutes(maximumScore, .toNearestOrAwayFromZero) }
  /// The sum of the scores, rounded to the nearest minute.
  package var roundedScoreSum: Double { Self.minutes(scoreSum, .toNearestOrAwayFromZero) }
  /// The weighted durations, rounded up to the next minute.
  package var roundedWeightedDurationSum: Double { Self.minutes(weightedDurationSum, .up) }

  private static func minutes(_ seconds: Double, _ rule: FloatingPointRoundingRule) -> Double {
    (seconds / 60).rounded(rule) * 60
  }
}
