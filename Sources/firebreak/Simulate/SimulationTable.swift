// SPDX-License-Identifier: Apache-2.0
import Foundation
import Populations
import Terminal

/// The summary of `firebreak simulate` as a table.
struct SimulationTable {
  private let summary: PopulationSummary
  private let output: String

  init(_ summary: PopulationSummary, output: String) {
    self.summary = summary
    self.output = output
  }

  var text: String {
    let header = [
      "app users", "phones", "infected", "R", "uploads", "alerted", "true", "false", "missed",
    ]
    let rows = [header] + ([summary.without] + summary.runs).map(Self.row)
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      zip(row, widths).map { text, width in
        String(repeating: " ", count: width - text.count) + text
      }.joined(separator: "  ")
    }
    return """
      \(summary.extent)

      \((lines + summary.doubtfulChecks).joined(separator: "\n"))

      The report, the summary and all events: \(output.printable)
      """
  }

  private static func row(_ run: PopulationSummary.Run) -> [String] {
    let share = String(format: "%g %%", run.adoption * 100)
    let number = run.reproductionNumber.map { String(format: "%.2f", $0) } ?? "-"
    return [share, "\(run.phones)", "\(run.infected)", number, "\(run.uploads)"]
      + [run.notified, run.trueAlerts, run.falseAlerts, run.missedAlerts].map { "\($0)" }
  }
}
