// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReportFormats

/// The report of the demo as one HTML file without scripts, fonts or network access.
public struct ReportPage {
  private let result: DemoResult

  /// Creates the report of `result`.
  public init(_ result: DemoResult) {
    self.result = result
  }

  /// The HTML text.
  public var html: String {
    HTMLReport(title: result.verdict, content: content, style: Self.style).html
  }

  private var content: String {
    let milliseconds = result.steps.map(\.milliseconds).reduce(0, +)
    return """
      <p class="summary \(Self.state(result.ok))">Firebreak, from a beacon to a notice: \
      \(result.steps.filter(\.ok).count) of \(result.steps.count) steps passed, in \
      \(Double(milliseconds / 100) / 10) s of real time. Real cryptography, real HTTP on this machine, a simulated \
      clock and radio.</p>
      <section>
      <h2>Phones</h2>
      <div class="cards">
      \(result.phones.map(Self.card).joined(separator: "\n"))
      </div>
      </section>
      <section>
      <h2>Two days in one picture</h2>
      \(TimelinePicture(timeline: result.timeline).svg)
      <p class="note">Each number is a step below, beside its time. Arrows are messages over HTTP; the
      shaded block shows two phones that received each other's beacons. Times are UTC.</p>
      </section>
      <section>
      <h2>Step by step</h2>
      <ol class="steps">
      \(result.steps.enumerated().map { Self.row($0 + 1, $1) }.joined(separator: "\n"))
      </ol>
      </section>
      <section>
      <h2>What each party has of the others</h2>
      \(knowledge)
      </section>
      """
  }

  private static func state(_ isOK: Bool) -> String { isOK ? "passed" : "failed" }

  private static func card(_ phone: DemoResult.Phone) -> String {
    let role =
      switch phone.name {
      case "near": "was near diagnosed for half an hour"
      case "far": "was out of range"
      default: "published keys after a positive test"
      }
    let notice =
      phone.notices == 0
      ? "No notice." : "\(phone.notices) notice\(phone.notices == 1 ? "" : "s")."
    let level = ["none", "low", "medium", "high"][min(max(phone.riskLevel, 0), 3)]
    return """
      <article class="level-\(phone.riskLevel)"><h3>\(phone.name.capitalized)</h3>
      <p>\(role)</p><p>risk: <strong>\(level)</strong></p><p>\(notice)</p></article>
      """
  }

  private static func row(_ number: Int, _ step: DemoStep) -> String {
    """
    <li class="\(state(step.ok))"><span class="badge">\(number)</span>
    <div><p><strong>\(HTMLText.escaped(step.sentence))</strong></p>
    <ul>\(items(step.facts, "li"))</ul></div>
    <p class="when">\(step.stamp)<br>\(state(step.ok)), \(step.milliseconds) ms</p></li>
    """
  }

  private var knowledge: String {
    guard !result.knowledge.isEmpty else {
      return "<p>Not measured, because the demo ended early.</p>"
    }
    return """
      <p class="note">Counted at the end of the run: everything that a party stored or received was
      searched for the PIN, the keys and the beacons of the others, as bytes, hex and base64.</p>
      <div class="cards">
      \(result.knowledge.map(Self.card).joined(separator: "\n"))
      </div>
      <p class="note"><strong>What remains:</strong> a notice names a day. Someone who met only one
      person on that day can guess who was diagnosed. Someone with receivers in several places can
      link the beacons of a published key, for the day that it was valid, and so follow that phone
      from one place to the next.</p>
      """
  }

  private static func card(_ party: IdentifierCounts) -> String {
    let has = party.counts.filter { $0.found > 0 }.map(\.text)
    let lacks = party.counts.filter { $0.found == 0 }.map(\.text)
    return """
      <article><h3>\(HTMLText.escaped(party.party))</h3>
      <p class="note">\(max(party.bytes / 1_024, 1)) KiB searched</p>
      <dl><dt>has</dt>\(items(has.isEmpty ? ["nothing of them"] : has, "dd"))
      <dt>does not have</dt>\(items(lacks, "dd"))</dl></article>
      """
  }

  private static func items(_ texts: [String], _ element: String) -> String {
    texts.map { "<\(element)>\(HTMLText.escaped($0))</\(element)>" }.joined()
  }

  private static let style = """
    :root { --ink:#1d2733; --soft:#5d6b7a; --calm:#2d7d6f; --warn:#b04c14; --blue:#2b5f9e;
      --band:#f3c9a8; --badge:#fff; }
    @media screen and (prefers-color-scheme: dark) { :root { --ink:#e8edf2; --soft:#9fb0c0;
      --calm:#58b8a5; --warn:#f08a4b; --blue:#7fb0e8; --band:#6b4429; --badge:#10201c; } }
    .summary { border-left:6px solid var(--calm); padding-left:1rem; }
    .summary.failed { border-color:var(--warn); }
    .note, .when, .steps ul, dt { color:var(--soft); font-size:.9rem; }
    [class^="level-"] { border-top:6px solid var(--calm); }
    .level-2, .level-3 { border-top-color:var(--warn); } .level-3 strong { color:var(--warn); }
    svg { max-width:600px; }
    svg text { fill:var(--ink); font-size:11px; text-anchor:middle; }
    svg .name { font-weight:600; font-size:10px; }
    svg .detail { fill:var(--soft); }
    svg .clock, svg .day { text-anchor:start; }
    svg .day { font-weight:600; }
    svg .lane { stroke:var(--line); stroke-width:2; }
    svg .midnight { stroke:var(--soft); stroke-dasharray:5 4; }
    svg .meeting { fill:var(--band); stroke:var(--warn); stroke-width:1.5; }
    svg .arrow { stroke:var(--blue); stroke-width:1.8; fill:none; }
    svg .tip, svg .start { fill:var(--blue); }
    svg .passed circle { fill:var(--calm); } svg .failed circle { fill:var(--warn); }
    svg g text { fill:var(--badge); font-weight:600; }
    .steps { list-style:none; margin:0; padding:0; }
    .steps > li { display:grid; grid-template-columns:34px 1fr 150px; gap:12px; padding:12px 0;
      border-top:1px solid var(--line); }
    .steps p { margin:0; } .steps ul { margin:4px 0 0; padding-left:18px; }
    .badge { width:26px; height:26px; border-radius:50%; background:var(--calm); color:var(--badge);
      display:grid; place-items:center; font-weight:600; font-size:.85rem; }
    .failed .badge { background:var(--warn); }
    .when { text-align:right; } dl { margin:.5rem 0 0; } dd { margin:0; }
    @media (max-width:640px) { .steps > li { grid-template-columns:34px 1fr; }
      .when { grid-column:2; text-align:left; } }
    """
}
