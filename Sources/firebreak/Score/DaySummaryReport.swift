import ExposureNotification

/// One day; kinds of report without windows are left out.
struct DaySummaryReport: Encodable {
  /// The three sums of Apple's `ENExposureSummaryItem`, in seconds.
  struct Sums: Encodable {
    let maximumScore: Double
    let scoreSum: Double
    let weightedDurationSum: Double
  }

  let date: String
  let daySummary: Sums
  let confirmedTestSummary: Sums?
  let confirmedClinicalDiagnosisSummary: Sums?
  let selfReportedSummary: Sums?
  let recursiveSummary: Sums?

  init(_ day: DaySummary, isRounded: Bool) {
    func sums(_ type: ENDiagnosisReportType) -> Sums? {
      day.byReportType[type].map { Sums($0, isRounded: isRounded) }
    }
    date = CalendarDate(midnight: day.date).text
    daySummary = Sums(day.total, isRounded: isRounded)
    confirmedTestSummary = sums(.confirmedTest)
    confirmedClinicalDiagnosisSummary = sums(.confirmedClinicalDiagnosis)
    selfReportedSummary = sums(.selfReported)
    recursiveSummary = sums(.recursive)
  }

  /// The day and its kinds of report, one a line.
  var text: String {
    let kinds = [
      ("confirmed test", confirmedTestSummary),
      ("clinical diagnosis", confirmedClinicalDiagnosisSummary),
      ("self reported", selfReportedSummary), ("recursive", recursiveSummary),
    ]
    let lines = kinds.compactMap { name, sums in sums.map { "  \(name): \($0.text)" } }
    return (["\(date): \(daySummary.text)"] + lines).joined(separator: "\n")
  }
}

extension DaySummaryReport.Sums {
  /// The sums as a phone tells them, in whole minutes, or exact.
  init(_ sums: ExposureSums, isRounded: Bool) {
    maximumScore = isRounded ? sums.roundedMaximumScore : sums.maximumScore
    scoreSum = isRounded ? sums.roundedScoreSum : sums.scoreSum
    weightedDurationSum = isRounded ? sums.roundedWeightedDurationSum : sums.weightedDurationSum
  }

  /// In seconds, as people read it.
  var text: String {
    "highest score \(maximumScore) s, sum \(scoreSum) s, weighted duration \(weightedDurationSum) s"
  }
}
