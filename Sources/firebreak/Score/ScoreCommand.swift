import ArgumentParser
import ExposureNotification
import Foundation

/// Scores exposure windows as a phone with version 2 of the interface would.
struct ScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Make day summaries of exposure windows (version 2).",
    discussion: """
      Windows: a list of {"date", "calibrationConfidence", "infectiousness", \
      "diagnosisReportType", "scanInstances": [{"minimumAttenuation", "typicalAttenuation", \
      "secondsSinceLastScan"}]} with Apple's raw values. Configuration: properties of \
      ENExposureConfiguration by their names; those left out are at their defaults. Sums are in \
      seconds, rounded to minutes as phones do.
      """)

  @Option(help: "The exposure windows, in JSON.")
  var windows: String

  @Option(name: .customLong("configuration"), help: "The exposure configuration, in JSON.")
  var configurationFile: String

  @Option(
    help: "The day that ages count from, YYYY-MM-DD; the newest day of the windows if absent.")
  var today: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Do not round the sums to minutes.")
  var exact = false

  func run() throws {
    let configuration = try ConfigurationJSON.read(configurationFile)
    let scoring = try ScoringOfWindows(configuration, file: configurationFile)
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
      throw CommandFailure.badInput("--today needs a date such as 2020-11-30.")
    }
    return date.midnight
  }
}
