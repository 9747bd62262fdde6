import ArgumentParser
import ExposureNotification
import Foundation
import Terminal

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
    let newest = windows.map(\.date).max() ?? Date(timeIntervalSince1970: 0)
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
      _ = try ExposureScoringV1(configuration)
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

/// The limits of `firebreak score`.
enum ScoreLimit {
  /// Windows per file.
  static let windowCountMax = 100_000
  /// Scans per window: one per second for the half hour of a window.
  static let scanCountMax = 1_800
  /// Seconds since the last scan: phones report 0 to 300, studies up to a day.
  static let secondsSinceLastScan = 0...86_400
}
