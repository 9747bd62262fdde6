import Foundation

/// The exposures of one UTC day in version 2 (Documentation/RiskScoring.md 8).
package struct DaySummary: Hashable, Sendable {
  /// Midnight UTC of the day.
  package let date: Date
  /// What each kind of report adds; kinds without exposures are absent.
  package var byReportType: [ENDiagnosisReportType: ExposureSums] = [:]
  /// All kinds together.
  package var total = ExposureSums()

  /// A day without exposures.
  package init(date: Date) {
    self.date = date
  }

  mutating func add(_ reportType: ENDiagnosisReportType, duration: Double, score: Double) {
    byReportType[reportType, default: ExposureSums()].add(duration: duration, score: score)
    total.add(duration: duration, score: score)
  }
}
