import Foundation

/// Version 2: every window is worth its time, weighted by nearness, infectiousness and report.
///
/// Documentation/RiskScoring.md 8.
package struct WindowScoring: Hashable, Sendable {
  private let thresholds: [UInt8]
  private let rangeFactors: [Double]
  private let infectiousnessFactors: [ENInfectiousness: Double]
  private let reportTypeFactors: [ENDiagnosisReportType: Double]
  private let minimumScore: Double
  private let oldestDays: Int

  /// Takes over `configuration`; throws `ENError.badParameter` with a sentence that names the field.
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
      throw ConfigurationFields.refusal(
        "daysSinceLastExposureThreshold", "needs a number of days, or 0 for no limit")
    }
    oldestDays = configuration.daysSinceLastExposureThreshold
  }

  /// The days of `windows` as of `today`, oldest first; days without risk that counts are absent.
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

  /// Seconds, weighted by attenuation alone.
  package func weightedDuration(of window: ExposureWindow) -> Double {
    window.scanInstances.reduce(0) { sum, scan in
      let range = AttenuationRange.index(of: scan.typicalAttenuation, thresholds: thresholds)
      return sum + Double(scan.secondsSinceLastScan) * rangeFactors[range]
    }
  }

  /// The exposure risk value, in seconds.
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
