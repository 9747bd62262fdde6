// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The results as one HTML page without scripts and references to other files.
public struct PopulationPage: Sendable {
  private let summary: PopulationSummary
  private let closeContact: Scenario.CloseContact

  /// Creates the page of a result.
  public init(_ result: PopulationResult) {
    summary = PopulationSummary(result)
    closeContact = result.scenario.closeContact
  }

  /// The text of the page.
  public var html: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(Self.escaped(summary.name))</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <main>
    <h1>\(Self.escaped(summary.name))</h1>
    <p>\(summary.extent). The first run has no app. In the others, \
    every phone has the real framework and app, and the servers are the real ones.</p>
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
    </main>
    </body>
    </html>

    """
  }

  private var infection: String {
    let rows = ([summary.without] + summary.runs).map { run in
      """
      <tr><th scope="row">\(Self.share(run.adoption))<small>\(run.phones) phones</small></th>\
      <td>\(run.infected)</td><td>\(run.reproductionNumber.map { Self.number($0) } ?? "–")</td>\
      <td>\(run.uploads)</td></tr>
      """
    }
    let last = Spread.cohort(days: summary.days).upperBound
    let days = last == 1 ? "first day" : "first \(last) days"
    return """
      <table><thead><tr><th scope="col">App users</th><th scope="col">Infected</th><th scope="col">R</th>\
      <th scope="col">Uploads</th></tr></thead><tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      <p>R is the mean number of people whom those infected on the \(days) have infected.</p>
      """
  }

  private var alerts: String {
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
      <p><span class="infections">■</span> infections, <span class="alerts">■</span> alerts a day, up to \
      \(highest)</p>
      </article>
      """
    }.joined(separator: "\n")
  }

  private static func chart(_ run: PopulationSummary.Run, highest: Int) -> String {
    let (width, height) = (300.0, 120.0)
    func points(_ values: [Int]) -> String {
      let step = width / Double(max(values.count - 1, 1))
      return values.enumerated().map { day, value in
        "\(tenth(Double(day) * step)),\(tenth(height - height * Double(value) / Double(highest)))"
      }.joined(separator: " ")
    }
    let title = "New infections and alerts by day with \(share(run.adoption)) app users"
    return """
      <svg viewBox="-2 -2 304 124" role="img" aria-label="\(escaped(title))">\
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

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// For screens from 320 px on and for paper.
  private static let style = """

    :root { color-scheme: light dark; --line: #8885; --one: #b3261e; --two: #0a5cc2; }
    @media (prefers-color-scheme: dark) { :root { --one: #ff9d94; --two: #8ab4ff; } }
    * { box-sizing: border-box; }
    body { margin: 0; font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
    main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
    h1 { margin: 0 0 .5rem; } h2 { margin: 2rem 0 .5rem; } h3 { margin: 0; font-size: 1.05rem; }
    table { width: 100%; border-collapse: collapse; font-size: .9rem; }
    th, td { padding: .3rem .2rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { text-align: left; font-weight: 600; overflow-wrap: normal; }
    td { text-align: right; font-variant-numeric: tabular-nums; }
    thead th:not(:first-child) { text-align: right; }
    thead th { font-size: .8rem; vertical-align: bottom; }
    small { display: block; font-weight: 400; font-size: .8rem; opacity: .8; }
    .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); }
    article { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; }
    article p { margin: .2rem 0; font-size: .85rem; }
    svg { width: 100%; height: auto; display: block; margin: .25rem 0; }
    .frame { fill: none; stroke: var(--line); }
    polyline { fill: none; stroke-width: 2; }
    polyline.infections { stroke: var(--one); } polyline.alerts { stroke: var(--two); }
    span.infections { color: var(--one); } span.alerts { color: var(--two); }
    @media print {
      :root { color-scheme: light; --one: #b3261e; --two: #0a5cc2; }
      main { max-width: none; padding: 0; } body { font-size: 10pt; } article, tr { break-inside: avoid; }
    }

    """
}
