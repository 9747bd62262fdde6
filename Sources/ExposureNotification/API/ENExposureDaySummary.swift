import Foundation

/// The exposures of one day, in version 2 of the interface.
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
  /// The exposures to people with a positive test; nil where there is none.
  open var confirmedTestSummary: ENExposureSummaryItem? { item(.confirmedTest) }
  /// The exposures to people with a doctor's diagnosis; nil where there is none.
  open var confirmedClinicalDiagnosisSummary: ENExposureSummaryItem? {
    item(.confirmedClinicalDiagnosis)
  }
  /// Exposures to contacts of contacts: reserved, nil.
  open var recursiveSummary: ENExposureSummaryItem? { item(.recursive) }
  /// The exposures to people who reported themselves; nil where there is none.
  open var selfReportedSummary: ENExposureSummaryItem? { item(.selfReported) }
  /// All exposures of the day.
  open var daySummary: ENExposureSummaryItem { ENExposureSummaryItem(day.total) }

  private func item(_ type: ENDiagnosisReportType) -> ENExposureSummaryItem? {
    day.byReportType[type].map(ENExposureSummaryItem.init)
  }
}
