import Foundation

/// The exposures of one day in API version 2.
open class ENExposureDaySummary: NSObject {
  private let day: DaySummary

  /// A day without exposures.
  public override init() {
    day = DaySummary(date: Date(timeIntervalSince1970: 0))
  }

  /// The sums of one day.
  package init(_ day: DaySummary) {
    self.day = day
  }

  /// Midnight UTC of the day.
  open var date: Date { day.date }
  /// The exposures to users with a positive test; nil if there is none.
  open var confirmedTestSummary: ENExposureSummaryItem? { item(.confirmedTest) }
  /// The exposures to users with a doctor's diagnosis; nil if there is none.
  open var confirmedClinicalDiagnosisSummary: ENExposureSummaryItem? {
    item(.confirmedClinicalDiagnosis)
  }
  /// The exposures to contacts of contacts: reserved, nil.
  open var recursiveSummary: ENExposureSummaryItem? { item(.recursive) }
  /// The exposures to users with a self-report; nil if there is none.
  open var selfReportedSummary: ENExposureSummaryItem? { item(.selfReported) }
  /// All exposures of the day.
  open var daySummary: ENExposureSummaryItem { ENExposureSummaryItem(day.total) }

  private func item(_ type: ENDiagnosisReportType) -> ENExposureSummaryItem? {
    day.byReportType[type].map(ENExposureSummaryItem.init)
  }
}

/// The risk of one day, or of one report type on that day.
open class ENExposureSummaryItem: NSObject {
  private let sums: ExposureSums

  /// No risk.
  public override init() {
    sums = ExposureSums()
  }

  /// The sums of one day and one report type.
  package init(_ sums: ExposureSums) {
    self.sums = sums
  }

  /// The highest exposure risk value of a window, in seconds, to the nearest minute.
  open var maximumScore: Double { sums.roundedMaximumScore }
  /// The sum of all exposure risk values, in seconds, to the nearest minute.
  open var scoreSum: Double { sums.roundedScoreSum }
  /// The seconds of exposure weighted by attenuation alone, up to the next minute.
  open var weightedDurationSum: TimeInterval { sums.roundedWeightedDurationSum }
}
