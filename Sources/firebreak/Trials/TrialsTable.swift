import FieldTrials
import Foundation

/// The ranking as a table for people.
struct TrialsTable {
  let counts: FieldTrialCounts
  let ranking: FieldTrialRanking

  var text: String {
    ([facts, leftOut, "", comparison, "", row("configuration", "version", "AUC") + "   source"]
      .compactMap(\.self)
      + ranking.ranks.map(row)).joined(separator: "\n")
  }

  private var facts: String {
    "\(counts.trials) trials, \(counts.phones) phones, \(counts.sightings) sightings with "
      + "\(counts.samples) samples; \(counts.phonesCompared) Android phones of people who were "
      + "not the sick one heard something."
  }

  /// Nil where everything was read.
  private var leftOut: String? {
    let all = counts.linesSkipped + counts.samplesImplausible + counts.filesUnreadable
    guard all > 0 else { return nil }
    return
      "Left out: lines that cannot be understood: \(counts.linesSkipped); samples that no radio "
      + "reports: \(counts.samplesImplausible); files missing, too large or damaged: "
      + "\(counts.filesUnreadable)."
  }

  /// Documentation/FieldTrials.md 3.1 and 3.3.
  private var comparison: String {
    let others = counts.phonesCompared - ranking.positives - ranking.negatives
    return """
      \(ranking.positives) phones with a high alert against \(ranking.negatives) with none; \
      \(others) with a low one count for neither.
      AUC: how often one of the first scores above one of the second (1 perfect, 0.5 chance).
      """
  }

  private func row(_ rank: ConfigurationRank) -> String {
    let area = rank.areaUnderCurve.map { String(format: "%.4f", $0) } ?? "-"
    return row(rank.configuration.name, "\(rank.configuration.apiVersion)", area)
      + "   \(rank.configuration.source)"
  }

  private func row(_ name: String, _ version: String, _ area: String) -> String {
    let columns = [(name, 20), (version, 9), (area, 6)]
    return columns.map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
  }
}
