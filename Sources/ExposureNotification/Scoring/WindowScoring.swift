// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Scoring of API version 2: the score of a window is its duration, weighted by attenuation, infectiousness
/// and report type.
package struct WindowScoring: Hashable, Sendable {
  private let thresholds: [UInt8]
  private let rangeWeights: [DurationWeight]
  private let infectiousnessWeights: [ENInfectiousness: DurationWeight]
  private let reportTypeWeights: [ENDiagnosisReportType: DurationWeight]
  private let minimumScore: WeightedSeconds
  private let oldestDays: Int

  /// - Throws: `ENError.badParameter` with an explanation that names the field.
  package init(_ configuration: ENExposureConfiguration) throws(ENError) {
    let fields = ConfigurationFields(configuration)
    thresholds = try fields.thresholds(counts: 3...3)
    rangeWeights = [
      try fields.weight("immediateDurationWeight", configuration.immediateDurationWeight),
      try fields.weight("nearDurationWeight", configuration.nearDurationWeight),
      try fields.weight("mediumDurationWeight", configuration.mediumDurationWeight),
      try fields.weight("otherDurationWeight", configuration.otherDurationWeight),
    ]
    infectiousnessWeights = try Self.infectiousnessWeights(configuration)
    reportTypeWeights = try Self.reportTypeWeights(configuration)
    minimumScore = WeightedSeconds(
      rounding: try fields.minimumFullRange(of: 0...Self.highestScore))
    guard configuration.daysSinceLastExposureThreshold >= 0 else {
      throw ConfigurationFields.invalid(
        "daysSinceLastExposureThreshold", "needs a number of days, or 0 for no limit")
    }
    oldestDays = configuration.daysSinceLastExposureThreshold
  }

  /// The highest possible score of a window: three weights of 250 %.
  package static let highestScore =
    ExposureWindow.longestSeconds
    * pow(ConfigurationFields.percentages.upperBound / 100, 3)

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
  package func weightedDuration(of window: ExposureWindow) -> WeightedSeconds {
    window.scanInstances.reduce(.zero) { sum, scan in
      let range = AttenuationRange.index(of: scan.typicalAttenuation, thresholds: thresholds)
      return sum + WeightedSeconds(scan.secondsSinceLastScan) * rangeWeights[range]
    }
  }

  /// The exposure risk value in seconds.
  package func score(of window: ExposureWindow) -> WeightedSeconds {
    weightedDuration(of: window) * infectiousnessWeights[window.infectiousness, default: .zero]
      * reportTypeWeights[window.diagnosisReportType, default: .zero]
  }

  private func isRecent(_ window: ExposureWindow, today: Date) -> Bool {
    oldestDays == 0 || Day(of: window.date).count(to: Day(of: today)) <= oldestDays
  }

  private static func infectiousnessWeights(
    _ configuration: ENExposureConfiguration
  ) throws(ENError) -> [ENInfectiousness: DurationWeight] {
    let fields = ConfigurationFields(configuration)
    return [
      .standard: try fields.weight(
        "infectiousnessStandardWeight", configuration.infectiousnessStandardWeight),
      .high: try fields.weight(
        "infectiousnessHighWeight", configuration.infectiousnessHighWeight),
    ]
  }

  private static func reportTypeWeights(
    _ configuration: ENExposureConfiguration
  ) throws(ENError) -> [ENDiagnosisReportType: DurationWeight] {
    let fields = ConfigurationFields(configuration)
    return [
      .confirmedTest: try fields.weight(
        "reportTypeConfirmedTestWeight", configuration.reportTypeConfirmedTestWeight),
      .confirmedClinicalDiagnosis: try fields.weight(
        "reportTypeConfirmedClinicalDiagnosisWeight",
        configuration.reportTypeConfirmedClinicalDiagnosisWeight),
      .selfReported: try fields.weight(
        "reportTypeSelfReportedWeight", configuration.reportTypeSelfReportedWeight),
      .recursive: try fields.weight(
        "reportTypeRecursiveWeight", configuration.reportTypeRecursiveWeight),
    ]
  }
}

/// The attenuation ranges between thresholds, from near to far.
enum AttenuationRange {
  /// Returns the range of `decibels`. A value equal to a threshold belongs to the nearer range.
  static func index(of decibels: UInt8, thresholds: [UInt8]) -> Int {
    thresholds.firstIndex { decibels <= $0 } ?? thresholds.count
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

  mutating func add(
    _ reportType: ENDiagnosisReportType, duration: WeightedSeconds, score: WeightedSeconds
  ) {
    byReportType[reportType, default: ExposureSums()].add(duration: duration, score: score)
    total.add(duration: duration, score: score)
  }
}

/// Sums of exposure risk in version 2, in seconds. They are exact; rounding happens when an app reads them.
package struct ExposureSums: Hashable, Sendable {
  /// The highest score of a window.
  package var maximumScore = WeightedSeconds.zero
  /// The sum of the scores.
  package var scoreSum = WeightedSeconds.zero
  /// The sum of the durations, weighted by attenuation alone.
  package var weightedDurationSum = WeightedSeconds.zero

  package init() {}

  mutating func add(duration: WeightedSeconds, score: WeightedSeconds) {
    maximumScore = max(maximumScore, score)
    scoreSum += score
    weightedDurationSum += duration
  }

  /// The highest score, rounded to the nearest minute, in seconds.
  package var roundedMaximumScore: Double { Double(maximumScore.nearestMinute * 60) }
  /// The sum of the scores, rounded to the nearest minute, in seconds.
  package var roundedScoreSum: Double { Double(scoreSum.nearestMinute * 60) }
  /// The weighted durations, rounded up to the next minute, in seconds.
  package var roundedWeightedDurationSum: Double { Double(weightedDurationSum.nextMinute * 60) }
}

/// Seconds multiplied by up to three weights, without rounding errors.
///
/// With floating-point numbers, 480 s would be reported as 540 s, and a window with exactly the minimum score
/// would be excluded.
package struct WeightedSeconds: Hashable, Comparable, Sendable {
  package static let zero = WeightedSeconds(0)

  /// In units of 10^-18 s; the product of three weights is a whole number of them.
  private let units: Int128
  private static let unitsPerSecond: Int128 = 1_000_000_000_000_000_000
  private static let unitsPerMinute = 60 * unitsPerSecond

  init(_ seconds: Int) {
    self.init(units: Int128(seconds) * Self.unitsPerSecond)
  }

  /// Rounds `seconds` to the nearest microsecond.
  init(rounding seconds: Double) {
    self.init(units: Int128((seconds * 1_000_000).rounded()) * (Self.unitsPerSecond / 1_000_000))
  }

  private init(units: Int128) {
    self.units = units
  }

  /// The value in seconds, rounded to the nearest `Double`.
  package var double: Double {
    let (whole, rest) = units.quotientAndRemainder(dividingBy: Self.unitsPerSecond)
    return Double(whole) + Double(rest) / Double(Self.unitsPerSecond)
  }

  fileprivate var nearestMinute: Int128 { (units + Self.unitsPerMinute / 2) / Self.unitsPerMinute }
  fileprivate var nextMinute: Int128 { (units + Self.unitsPerMinute - 1) / Self.unitsPerMinute }

  package static func + (left: WeightedSeconds, right: WeightedSeconds) -> WeightedSeconds {
    WeightedSeconds(units: left.units + right.units)
  }

  package static func += (left: inout WeightedSeconds, right: WeightedSeconds) {
    left = left + right
  }

  package static func < (left: WeightedSeconds, right: WeightedSeconds) -> Bool {
    left.units < right.units
  }

  static func * (seconds: WeightedSeconds, weight: DurationWeight) -> WeightedSeconds {
    WeightedSeconds(units: seconds.units * weight.steps / DurationWeight.stepsOfOne)
  }
}

/// A weight of durations, in steps of 0.0001 %.
struct DurationWeight: Hashable, Sendable {
  static let zero = DurationWeight(percent: 0)

  fileprivate let steps: Int128
  fileprivate static let stepsOfOne: Int128 = 1_000_000

  /// Rounds `percent` to the nearest step.
  init(percent: Double) {
    steps = Int128((percent * 10_000).rounded())
  }
}
