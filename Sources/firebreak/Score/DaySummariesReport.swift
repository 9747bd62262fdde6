import ExposureNotification
import Terminal

/// The result of `firebreak score`, as `--json` prints it.
struct DaySummariesReport: Encodable {
  /// In ascending order of dates.
  let daySummaries: [DaySummaryReport]

  init(_ days: [DaySummary], isRounded: Bool) {
    daySummaries = days.map { DaySummaryReport($0, isRounded: isRounded) }
  }

  /// The result as text.
  var text: String {
    guard !daySummaries.isEmpty else { return "No day has an exposure that counts." }
    return daySummaries.map(\.text).joined(separator: "\n")
  }
}

/// A day; report types without windows are absent.
struct DaySummaryReport: Encodable {
  /// The sums of `ENExposureSummaryItem`, in seconds.
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

  var text: String {
    let summaries = [
      ("confirmed test", confirmedTestSummary),
      ("clinical diagnosis", confirmedClinicalDiagnosisSummary),
      ("self reported", selfReportedSummary), ("recursive", recursiveSummary),
    ]
    let lines = summaries.compactMap { name, sums in sums.map { "  \(name): \($0.text)" } }
    return (["\(date): \(daySummary.text)"] + lines).joined(separator: "\n")
  }
}

extension DaySummaryReport.Sums {
  /// The sums rounded to minutes, as on a phone, or exact.
  init(_ sums: ExposureSums, isRounded: Bool) {
    maximumScore = isRounded ? sums.roundedMaximumScore : sums.maximumScore.double
    scoreSum = isRounded ? sums.roundedScoreSum : sums.scoreSum.double
    weightedDurationSum =
      isRounded ? sums.roundedWeightedDurationSum : sums.weightedDurationSum.double
  }

  var text: String {
    "highest score \(maximumScore) s, sum \(scoreSum) s, weighted duration \(weightedDurationSum) s"
  }
}
