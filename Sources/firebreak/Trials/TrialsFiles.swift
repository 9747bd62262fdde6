// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import FieldTrials
import Foundation
import Terminal
import World

/// The files that `firebreak trials` writes: never one that it reads.
struct TrialsFiles {
  private let perPhone: ResultFile?
  private let windows: ResultFile?
  private let report: ResultFile?

  /// - Parameter inputs: The files that the command reads.
  /// - Throws: `CommandFailure` if a file cannot be written, two are the same, or one is an input.
  init(perPhone: String?, windows: String?, report: String?, inputs: [String]) throws {
    self.perPhone = try perPhone.map { try ResultFile($0, option: "--per-phone") }
    self.windows = try windows.map { try ResultFile($0, option: "--windows") }
    self.report = try report.map { try ResultFile($0, option: "--report") }
    let files = [self.perPhone, self.windows, self.report].compactMap(\.self)
    guard Set(files.map(\.place)).count == files.count else {
      throw CommandFailure.badInput("Two results have the same file: name one for each.")
    }
    for file in files {
      try file.keepInputs(inputs, isInput: FieldTrials.isRecording(file.url))
    }
  }

  func write(_ trials: FieldTrials, _ results: TrialsResults) throws {
    let table = try PhoneTable(trials.trials, results.ranking)
    try perPhone?.write(table.csv)
    try windows?.write(WindowReport.list(of: results.ranking.encounters))
    try report?.write(
      TrialReportPage(
        results.counts, results.ranking, table, sweep: results.sweep, learned: results.learned
      ).html)
  }
}
