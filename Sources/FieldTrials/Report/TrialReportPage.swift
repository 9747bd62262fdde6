// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats

/// The results as one HTML page without scripts and references to other files.
package struct TrialReportPage: Sendable {
  private let ranking: FieldTrialRanking
  private let table: PhoneTable
  private let counts: FieldTrialCounts
  private let fitting: FittingSection

  package init(
    _ counts: FieldTrialCounts, _ ranking: FieldTrialRanking, _ table: PhoneTable,
    sweep: SweepResult? = nil, learned: LearnedConfiguration? = nil
  ) {
    self.counts = counts
    self.ranking = ranking
    self.table = table
    fitting = FittingSection(sweep: sweep, learned: learned)
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
    \(fitting.html)
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
      (seed \(ranking.bootstrap.seed)).\(withoutWidth)</p>
      <p>False: phones without alert that reach the configuration's own threshold. Missed: phones with a high alert \
      that do not reach it.</p>
      <p>\(power)</p>
      \(losses.isEmpty ? "" : "<p>Not used:</p><ul>\(losses.joined())</ul>")
      """
  }

  /// The meaning of an interval without width.
  private var withoutWidth: String {
    guard ranking.ranks.contains(where: { $0.areaUnderCurve == 1 }) else { return "" }
    return " From 1 to 1 means only that no sample can make an error that did not occur."
  }

  private var power: String {
    let (power, other) = (ranking.options.iPhonePower, ranking.options.iPhonePower.other)
    let effect = ranking.largestEffectOfIPhonePower.map {
      "areas change by at most \(NumberText.share($0.change)) (\(HTMLText.escaped($0.configuration)))"
    }
    return """
      The logs of iPhones withhold the transmit power. That of the \(power.rawValue) is used; with that of the \
      \(other.rawValue), \(effect ?? "the areas are not defined"). Below each configuration are its threshold, the AUC \
      with the power of the \(other.rawValue), and the AUC with the alerts as labelled.
      """
  }

  private var configurations: String {
    let rows = ranking.ranks.map { rank in
      """
      <tr><th scope="row">\(HTMLText.escaped(rank.configuration.name))\
      <small>\(HTMLText.escaped(rank.configuration.source))</small><small>\(variants(rank))</small></th>\
      <td>\(NumberText.share(rank.areaUnderCurve))<small>\(NumberText.interval(rank.interval))</small></td>\
      <td>\(rank.errors.map { "\($0.falseAlerts)" } ?? "–")</td>\
      <td>\(rank.errors.map { "\($0.missedAlerts)" } ?? "–")</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">Configuration</th><th scope="col">AUC</th>\
      <th scope="col">False<small>of \(ranking.negatives)</small></th>\
      <th scope="col">Missed<small>of \(ranking.positives)</small></th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      """
  }

  /// The threshold, and the areas with other readings of the recording.
  private func variants(_ rank: ConfigurationRank) -> String {
    let alert = rank.configuration.alert.map { alert in
      "alert \(alert.isInclusive ? "from" : "above") \(NumberText.number(alert.score))"
        + (alert.isAssumed ? " (assumed)" : "")
    }
    let power = ranking.options.iPhonePower.other.rawValue
    return """
      \(alert ?? "no threshold"); \(power) \(NumberText.share(rank.areaWithOtherPower)); \
      labelled \(NumberText.share(rank.labelledArea))
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
    .values td { padding-inline-start: .6rem; }
    svg { max-width: 15rem; } .chance { stroke: var(--line); stroke-dasharray: 4 4; }
    .curve { fill: none; stroke: var(--curve); stroke-width: 3; } .own { fill: var(--own); }
    .calibration .bar { width: 45%; } .bar span { display: block; height: .9rem; background: var(--curve); }
    @media print {
      :root { --curve: #0a5cc2; --own: #b3261e; } .cards { grid-template-columns: repeat(3, 1fr); }
      .bar span, .own { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
    }

    """
}
