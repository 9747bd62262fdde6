// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import Foundation
import Terminal
import World

/// `firebreak score`: computes the day summaries of exposure windows (version 2 of the API).
struct ScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Compute day summaries of exposure windows (version 2).",
    discussion: """
      Windows: a list of {"date", "calibrationConfidence", "infectiousness", \
      "diagnosisReportType", "scanInstances": [{"minimumAttenuation", "typicalAttenuation", \
      "secondsSinceLastScan"}]} with Apple's raw values. Configuration: properties of \
      ENExposureConfiguration by name; absent ones have their defaults. Sums are in \
      seconds, rounded to minutes as phones do.
      """)

  @Option(help: "The exposure windows, in JSON.")
  var windows: String

  @Option(name: .customLong("configuration"), help: "The exposure configuration, in JSON.")
  var configurationFile: String

  @Option(
    help: "The day from which ages count, YYYY-MM-DD; by default the newest day of the windows.")
  var today: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Do not round the sums to minutes.")
  var exact = false

  func run() throws {
    let configuration = try ConfigurationJSON.read(configurationFile)
    let scoring = try WindowFileScoring(configuration, file: configurationFile)
    let windows = try WindowsJSON(at: windows).windows
    let newest = windows.map(\.date).max() ?? Date(unixSecond: 0)
    let today = try givenToday() ?? newest
    let report = DaySummariesReport(
      scoring.days(of: windows, today: today), isRounded: !exact)
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }

  private func givenToday() throws -> Date? {
    guard let today else { return nil }
    guard let date = CalendarDate(today) else {
      throw CommandFailure.badInput("--today must be a date such as 2020-11-30.")
    }
    return date.midnight
  }
}

/// The framework's scoring, applied to windows from a file.
struct WindowFileScoring {
  private let scoring: WindowScoring
  private let defaultReportType: ENDiagnosisReportType

  /// Validates `configuration`, including the fields of version 1, which are not used here.
  ///
  /// - Throws: `CommandFailure` that names the invalid field of `file`.
  init(_ configuration: ENExposureConfiguration, file: String) throws {
    do throws(ENError) {
      scoring = try WindowScoring(configuration)
      // Their common minimum counts by the scores of version 2.
      _ = try ExposureScoringV1(configuration, scores: 0...WindowScoring.highestScore)
      if configuration.infectiousnessForDaysSinceOnsetOfSymptoms != nil {
        _ = try WindowRules(configuration)
      }
    } catch {
      throw CommandFailure.badInput("\(file.printable): \(error.localizedDescription)")
    }
    defaultReportType = configuration.reportTypeNoneMap
  }

  /// The summaries of the days with windows that count.
  func days(of windows: [ExposureWindow], today: Date) -> [DaySummary] {
    scoring.days(of: windows.compactMap { $0.counted(unstatedAs: defaultReportType) }, today: today)
  }
}

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
