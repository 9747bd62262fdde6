// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats

/// The results as one HTML page without scripts and references to other files.
package struct TrialReportPage: Sendable {
  private let ranking: FieldTrialRanking
  private let table: PhoneTable
  private let counts: FieldTrialCounts
  private let learned: LearnedConfiguration?

  package init(
    _ counts: FieldTrialCounts, _ ranking: FieldTrialRanking, _ table: PhoneTable,
    learned: LearnedConfiguration? = nil
  ) {
    self.counts = counts
    self.ranking = ranking
    self.table = table
    self.learned = learned
  }

  /// The text of the page.
  package var html: String {
    HTMLReport(title: "Field trials", content: content, style: Self.style).html
  }

  private var content: String {
    """
    \(summary)
    <section>
    <h2>Configurations</h2>
    \(configurations)
    </section>
    \(learned.map(learnedSection) ?? "")
    <section>
    <h2>ROC curves and calibration</h2>
    <p>The curve shows the shares of alerts among phones with a high alert (upward) and without alert (to the right) \
    for every threshold. The dot is the configuration's own threshold. The bars show the share of high alerts among \
    phones with similar scores.</p>
    <div class="cards">\(ranking.ranks.map { ConfigurationCard($0).html }.joined(separator: "\n"))</div>
    </section>
    <section>
    <h2>Phones</h2>
    \(phones)
    </section>
    """
  }

  private var summary: String {
    let losses = TrialLoss.allCases.compactMap { loss in
      ranking.encounters.losses[loss].map { "<li>\($0) \(HTMLText.escaped(loss.text))</li>" }
    }
    return """
      <p>\(counts.trials) trials, \(counts.phones) phones; \(ranking.positives) with a high alert and \
      \(ranking.negatives) without alert are compared. \(counts.alertsCorrected) alerts were corrected.</p>
      <p>AUC is the share of pairs in which the phone with a high alert has the higher score: 1 is perfect, 0.5 is \
      random. The interval contains 95 % of \(ranking.bootstrap.sampleCount) samples of trials \
      (seed \(ranking.bootstrap.seed)).</p>
      \(losses.isEmpty ? "" : "<p>Not used:</p><ul>\(losses.joined())</ul>")
      """
  }

  private var configurations: String {
    let rows = ranking.ranks.map { rank in
      """
      <tr><th scope="row">\(HTMLText.escaped(rank.configuration.name))\
      <small>\(HTMLText.escaped(rank.configuration.source))</small></th>\
      <td>\(NumberText.share(rank.areaUnderCurve))<small>\(Self.text(rank.interval))</small></td>\
      <td>\(rank.errors.map { "\($0.falseAlerts)" } ?? "–")</td>\
      <td>\(rank.errors.map { "\($0.missedAlerts)" } ?? "–")</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">Configuration</th><th scope="col">AUC</th><th scope="col">False</th>\
      <th scope="col">Missed</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      """
  }

  private func learnedSection(_ learned: LearnedConfiguration) -> String {
    let rows = learned.folds.map { fold in
      let point = fold.point
      return """
        <tr><th scope="row">\(HTMLText.escaped(fold.trial))</th>\
        <td>\(point.thresholds.map { "\($0)" }.joined(separator: " "))</td>\
        <td>\(point.weights.map(NumberText.number).joined(separator: " "))</td>\
        <td>\(NumberText.number(fold.threshold))</td></tr>
        """
    }
    return """
      <section>
      <h2>Fitted configuration</h2>
      <p>Fitted to all trials but one and applied to that one: held-out AUC \
      \(NumberText.share(learned.heldOutArea)) (\(Self.text(learned.interval))), \
      \(learned.errors.falseAlerts) false and \(learned.errors.missedAlerts) missed alerts.</p>
      <table><thead><tr><th scope="col">Held out</th><th scope="col">dB</th><th scope="col">%</th>\
      <th scope="col">From s</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      </section>
      """
  }

  private var phones: String {
    let withThreshold = table.configurations.indices.filter {
      table.configurations[$0].alert != nil
    }
    let rows = table.rows.map { row in
      let alerts = row.scores.map { scores in
        withThreshold.count { table.configurations[$0].alert?.isReached(by: scores[$0]) == true }
      }
      let correction =
        row.alert == row.labelled ? "" : "<small>label: \(row.labelled.rawValue)</small>"
      return """
        <tr><th scope="row">\(HTMLText.escaped(row.phone))\
        <small>\(HTMLText.escaped(row.trial))</small></th>\
        <td>\(row.alert.rawValue)\(correction)</td>\
        <td>\(row.exclusion == nil || row.exclusion == .lowAlert ? "\(row.seconds / 60)" : "–")</td>\
        <td>\(row.leastAttenuation.map { "\($0)" } ?? "–")</td>\
        <td>\(row.scores?.first.map(NumberText.number) ?? "–")</td>\
        <td>\(alerts.map { "\($0)/\(withThreshold.count)" } ?? "–")</td></tr>
        """
    }
    return """
      <p>Minutes and least attenuation of the scans that received the infected phone; score by \
      \(HTMLText.escaped(table.configurations.first?.name ?? "")); configurations that alert.</p>
      <table class="phones"><thead><tr><th scope="col">Phone</th><th scope="col">Alert</th>\
      <th scope="col">min</th><th scope="col">dB</th><th scope="col">Score</th>\
      <th scope="col">Alerts</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      """
  }

  private static let style = """

    :root { --curve: #0a5cc2; --own: #b3261e; }
    @media (prefers-color-scheme: dark) { :root { --curve: #8ab4ff; --own: #ff9d94; } }
    .phones td:nth-child(2), .phones th:nth-child(2) { text-align: left; }
    svg { max-width: 15rem; } .chance { stroke: var(--line); stroke-dasharray: 4 4; }
    .curve { fill: none; stroke: var(--curve); stroke-width: 3; } .own { fill: var(--own); }
    .calibration .bar { width: 45%; } .bar span { display: block; height: .9rem; background: var(--curve); }
    @media print {
      :root { --curve: #0a5cc2; --own: #b3261e; } .cards { grid-template-columns: repeat(3, 1fr); }
      .bar span, .own { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
    }

    """

  /// The interval as text.
  private static func text(_ interval: AreaInterval?) -> String {
    guard let interval else { return "no interval" }
    return "\(NumberText.share(interval.low)) to \(NumberText.share(interval.high))"
  }
}
