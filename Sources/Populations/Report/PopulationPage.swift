// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats
import World

/// The results as one HTML page without scripts and references to other files.
public struct PopulationPage: Sendable {
  private let summary: PopulationSummary
  private let scenario: Scenario

  /// Creates the page of a result.
  public init(_ result: PopulationResult) {
    summary = PopulationSummary(result)
    scenario = result.scenario
  }

  /// The text of the page.
  public var html: String {
    HTMLReport(title: summary.name, content: content, style: Self.style).html
  }

  private var closeContact: Scenario.CloseContact { scenario.closeContact }

  /// The first day and the source of the contacts.
  private var source: String {
    let day = Date(unixSecond: scenario.start)
      .formatted(Date.ISO8601FormatStyle().year().month().day())
    let contacts =
      switch scenario.contacts {
      case .generated: "The contacts are generated."
      case .recorded(let file, _, _):
        "The contacts are those of the recording \(URL(fileURLWithPath: file).lastPathComponent)."
      }
    return "The first day is \(day). \(contacts)"
  }

  private var content: String {
    """
    <p>\(HTMLText.escaped(source))</p>
    <p>\(summary.extent). \(Self.runs(summary))</p>
    <section>
    <h2>Infection</h2>
    \(infection)
    </section>
    <section>
    <h2>Alerts</h2>
    \(alerts)
    </section>
    <section>
    <h2>Days</h2>
    <div class="cards">\(cards)</div>
    </section>
    """
  }

  private static func runs(_ summary: PopulationSummary) -> String {
    guard !summary.runs.isEmpty else { return "The run has no app." }
    return "The first run has no app. In the others, every phone has the real framework and app, "
      + "and the servers are the real ones."
  }

  private var infection: String {
    let rows = ([summary.without] + summary.runs).map { run in
      """
      <tr><th scope="row">\(Self.share(run.adoption))<small>\(run.phones) phones</small></th>\
      <td>\(run.infected)</td><td>\(run.reproductionNumber.map { Self.number($0) } ?? "–")</td>\
      <td>\(run.uploads)</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">App users</th><th scope="col">Infected</th><th scope="col">R</th>\
      <th scope="col">Uploads</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      <p>\(cohort)</p>\(checks)
      """
  }

  private var cohort: String {
    guard let last = Spread.cohort(days: summary.days)?.upperBound else {
      return """
        R is the mean number of people whom one has infected. It needs more than \
        \(Disease.infectiousDays.upperBound) days.
        """
    }
    let days = last == 1 ? "first day" : "first \(last) days"
    return "R is the mean number of people whom those infected on the \(days) have infected."
  }

  /// The checks that make the other results doubtful.
  private var checks: String {
    summary.doubtfulChecks.map { "\n<p>\(HTMLText.escaped($0))</p>" }.joined()
  }

  private var alerts: String {
    guard !summary.runs.isEmpty else { return "<p>No run has the app.</p>" }
    let rows = summary.runs.map { run in
      """
      <tr><th scope="row">\(Self.share(run.adoption))</th><td>\(run.notified)</td><td>\(run.trueAlerts)</td>\
      <td>\(run.falseAlerts)</td><td>\(run.missedAlerts)</td><td>\(run.infectedBeforeAlert)</td></tr>
      """
    }
    return """
      <table><thead><tr><th scope="col">App users</th><th scope="col">Alerted</th><th scope="col">True</th>\
      <th scope="col">False</th><th scope="col">Missed</th><th scope="col">Infected</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      <p>People with an alert. It is true if the person was within \(Self.number(closeContact.metres)) m of somebody \
      who was infectious and uploaded, for \(Self.number(closeContact.minutes)) minutes of one of the fourteen days \
      before. Missed: such a contact without an alert three days after the upload. Infected: alerted people who were \
      infected before the alert.</p>
      """
  }

  private var cards: String {
    let highest =
      ([summary.without] + summary.runs)
      .flatMap { $0.infectionsByDay + $0.alertsByDay }.max() ?? 0
    return ([summary.without] + summary.runs).map { run in
      """
      <article><h3>\(Self.share(run.adoption)) app users</h3>
      \(Self.chart(run, highest: max(highest, 1)))
      <p class="axis"><span>day 1</span><span>\(lastDay)</span></p>
      <p><span class="infections">■</span> infections, <span class="alerts">■</span> alerts a day (dashed), up to \
      \(highest)</p>
      </article>
      """
    }.joined(separator: "\n")
  }

  private var lastDay: String { summary.days == 1 ? "" : "day \(summary.days)" }

  private static func chart(_ run: PopulationSummary.Run, highest: Int) -> String {
    let (width, height) = (300.0, 120.0)
    func points(_ values: [Int]) -> String {
      // A single day is a level line, because a line of one point is not drawn.
      let values = values.count == 1 ? values + values : values
      let step = width / Double(max(values.count - 1, 1))
      return values.enumerated().map { day, value in
        "\(tenth(Double(day) * step)),\(tenth(height - height * Double(value) / Double(highest)))"
      }.joined(separator: " ")
    }
    let title = "New infections and alerts by day with \(share(run.adoption)) app users"
    return """
      <svg viewBox="-2 -2 304 124" role="img" aria-label="\(HTMLText.escaped(title))">\
      <rect class="frame" x="0" y="0" width="300" height="120"/>\
      <polyline class="infections" points="\(points(run.infectionsByDay))"/>\
      <polyline class="alerts" points="\(points(run.alertsByDay))"/></svg>
      """
  }

  private static func share(_ value: Double) -> String { String(format: "%g %%", value * 100) }

  private static func number(_ value: Double) -> String {
    value == value.rounded() ? String(format: "%.0f", value) : String(format: "%.2f", value)
  }

  private static func tenth(_ value: Double) -> String { String(format: "%.1f", value) }

  private static let style = """

    :root { --one: #b3261e; --two: #0a5cc2; }
    @media (prefers-color-scheme: dark) { :root { --one: #ff9d94; --two: #8ab4ff; } }
    article p { font-size: .85rem; } polyline { fill: none; stroke-width: 2; }
    polyline.infections { stroke: var(--one); } polyline.alerts { stroke: var(--two); stroke-dasharray: 6 3; }
    .axis { display: flex; justify-content: space-between; }
    span.infections { color: var(--one); } span.alerts { color: var(--two); }
    @media print { :root { --one: #b3261e; --two: #0a5cc2; } }

    """
}
