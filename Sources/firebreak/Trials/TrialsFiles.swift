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
    let places = inputs.map { ResultFile.place(of: URL(fileURLWithPath: $0)) }
    if let replaced = files.first(where: { places.contains($0.place) }) { throw replaced.isInput }
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

  /// The path without links to folders.
  var place: String { Self.place(of: url) }

  /// The failure if the command also reads the file.
  var isInput: CommandFailure {
    .badInput("\(url.path.printable) would be replaced: name another file with \(option).")
  }

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

  /// The path of a file without links to folders.
  static func place(of url: URL) -> String {
    url.deletingLastPathComponent().resolvingSymlinksInPath()
      .appendingPathComponent(url.lastPathComponent).path
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
