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

/// The exposure windows of `firebreak score` in JSON.
struct WindowsJSON {
  let windows: [ExposureWindow]

  /// - Throws: `CommandFailure` that names the invalid window and field.
  init(at path: String) throws {
    let content = try InputFile(path, what: "windows file").content
    do {
      try self.init(decoding: content)
    } catch let failure as CommandFailure {
      throw CommandFailure(
        status: failure.status, message: "The windows file \(path.printable): \(failure.message)")
    }
  }

  /// Decodes at most `windowCountMax` windows.
  init(decoding data: Data, windowCountMax: Int = ScoreLimit.windowCountMax) throws {
    do {
      windows = try JSONDecoder().decode([WindowJSON].self, from: data).map(\.window)
    } catch let error as DecodingError {
      let otherwise = "expected a JSON list of exposure windows."
      throw CommandFailure.badInput(error.message(otherwise: otherwise))
    }
    guard windows.count <= windowCountMax else {
      throw CommandFailure.badInput("more than \(windowCountMax); split the file.")
    }
  }
}

/// A window in JSON, with Apple's raw values.
struct WindowJSON: Decodable {
  let window: ExposureWindow

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    var window = ExposureWindow()
    window.date = try fields.checked(.date, "must be a date such as 2020-11-30") {
      (text: String) in CalendarDate(text)?.midnight
    }
    window.calibrationConfidence = try fields.checked(
      .calibrationConfidence, "must be 0, 1, 2 or 3", ENCalibrationConfidence.init)
    window.infectiousness = try fields.checked(
      .infectiousness, "must be 0, 1 or 2", ENInfectiousness.init)
    window.diagnosisReportType = try fields.checked(
      .diagnosisReportType, "must be a whole number from 0 to 5", ENDiagnosisReportType.init)
    window.scanInstances = try fields.checked(
      .scanInstances, "must have at most \(ScoreLimit.scanCountMax) scans"
    ) { (scans: [ScanJSON]) in
      scans.count <= ScoreLimit.scanCountMax ? scans.map(\.scan) : nil
    }
    self.window = window
  }

  private enum Field: String, CodingKey {
    case date, calibrationConfidence, infectiousness, diagnosisReportType, scanInstances
  }
}

/// A scan of a window in JSON.
struct ScanJSON: Decodable {
  let scan: ScanInstance

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    scan = ScanInstance(
      minimumAttenuation: try fields.checked(
        .minimumAttenuation, Self.attenuationProblem, UInt8.init(exactly:) as (Int) -> UInt8?),
      typicalAttenuation: try fields.checked(
        .typicalAttenuation, Self.attenuationProblem, UInt8.init(exactly:) as (Int) -> UInt8?),
      secondsSinceLastScan: try fields.checked(
        .secondsSinceLastScan,
        "must be a whole number of seconds from 0 to \(ScoreLimit.secondsSinceLastScan.upperBound)"
      ) { (seconds: Int) in
        ScoreLimit.secondsSinceLastScan.contains(seconds) ? seconds : nil
      })
  }

  private static let attenuationProblem = "must be a whole number of dB from 0 to 255"

  private enum Field: String, CodingKey {
    case minimumAttenuation, typicalAttenuation, secondsSinceLastScan
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

/// The limits of `firebreak score`.
enum ScoreLimit {
  /// Windows per file.
  static let windowCountMax = 100_000
  /// Scans per window: one per second for the half hour of a window.
  static let scanCountMax = 1_800
  /// Seconds since the last scan: phones report 0 to 300, studies up to a day.
  static let secondsSinceLastScan = 0...86_400
}
