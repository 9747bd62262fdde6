// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Terminal

/// The options of a command with `--json`, by which a command prints one JSON object instead of text.
protocol ReportWriter {
  var json: Bool { get }
}

extension ReportWriter {
  /// Prints `report` as one JSON object, or `text`.
  func write(_ report: some Encodable, _ text: @autoclosure () -> String) throws {
    try json ? printJSON(report) : StandardOutput.write(text())
  }

  /// Prints `report` or `text` if something was changed. Otherwise the command prints `report` with `--json`, and ends
  /// with status 1 and `refusal`.
  func write(
    _ report: some Encodable, _ text: @autoclosure () -> String, if isChanged: Bool,
    otherwise refusal: @autoclosure () -> String
  ) throws {
    if json { try printJSON(report) }
    guard isChanged else { throw CommandFailure(status: .no, message: refusal()) }
    if !json { try StandardOutput.write(text()) }
  }
}

/// The option of commands that report what they did.
///
/// They have the options of the servers beside it and not within it: in debug builds the parser checks a group in a
/// group five times as often, which is a large part of a command's time.
struct ReportOptions: ParsableArguments, ReportWriter {
  @Flag(help: "Print one JSON object.")
  var json = false
}
