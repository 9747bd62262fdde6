// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import FieldTrials
import Foundation
import Terminal
import World

/// The files that `firebreak trials` writes.
struct TrialsFiles {
  private let perPhone: ResultFile?
  private let windows: ResultFile?
  private let report: ResultFile?

  /// - Throws: `CommandFailure` if a file cannot be written, or two have the same path.
  init(perPhone: String?, windows: String?, report: String?) throws {
    self.perPhone = try perPhone.map { try ResultFile($0, option: "--per-phone") }
    self.windows = try windows.map { try ResultFile($0, option: "--windows") }
    self.report = try report.map { try ResultFile($0, option: "--report") }
    let files = [self.perPhone, self.windows, self.report].compactMap(\.self)
    guard Set(files.map(\.url.standardizedFileURL.path)).count == files.count else {
      throw CommandFailure.badInput("Two results have the same file: name one for each.")
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

/// A file with results.
struct ResultFile {
  let url: URL
  private let option: String

  /// Checks that the file at `path` can be written, before the work begins.
  init(_ path: String, option: String) throws {
    url = URL(fileURLWithPath: path)
    self.option = option
    let folder = url.deletingLastPathComponent().path
    guard access(folder, W_OK | X_OK) == 0, !FileManager.default.isFolder(at: url.path) else {
      throw CommandFailure.badInput(
        "\(path.printable) cannot be written: name a file in an existing folder with \(option).")
    }
    guard AtomicFile.isReplaceable(url) else {
      throw CommandFailure.badInput(
        "\(path.printable) is a device or a pipe: name a file with \(option).")
    }
  }

  func write(_ text: String) throws {
    do throws(FileError) {
      try AtomicFile.write(text.utf8, to: url, permissions: 0o644)
    } catch {
      throw CommandFailure.machineFailed(
        "\(url.path.printable) could not be written (\(option)): free disk space and try again.")
    }
  }
}
