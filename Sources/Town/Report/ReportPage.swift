// SPDX-License-Identifier: Apache-2.0
import Foundation
import Mustache

/// The report of the demo as one HTML file without scripts, fonts or network access.
public struct ReportPage {
  /// A step of the page.
  private struct Row {
    let number: Int
    let time: String
    let sentence: String
    let facts: [String]
    let milliseconds: Int
    let mark: String
    let state: String
  }

  /// A phone of the page.
  private struct Card {
    let name: String
    let role: String
    let level: String
    let levelName: String
    let notice: String
  }

  /// A party of the page, and the counts of identifiers.
  private struct Party {
    let name: String
    let size: String
    let has: [String]
    let lacks: [String]

    init(_ knowledge: IdentifierCounts) {
      name = knowledge.party
      size = "\(max(knowledge.bytes / 1_024, 1)) KiB searched"
      has = knowledge.counts.filter { $0.found > 0 }.map(\.text)
      lacks = knowledge.counts.filter { $0.found == 0 }.map(\.text)
    }
  }

  /// The values of the template.
  private struct Content {
    let verdict: String
    let summary: String
    let state: String
    let cards: [Card]
    let picture: String
    let rows: [Row]
    let hasKnowledge: Bool
    let knowledge: [Party]
    let style: String
  }

  private let result: DemoResult

  /// Creates the report of `result`.
  public init(_ result: DemoResult) {
    self.result = result
  }

  /// The HTML text.
  ///
  /// - Throws: If the template is invalid (a programming error).
  public func html() throws -> String {
    try MustacheTemplate(string: ReportTemplate.page).render(content)
  }

  private var content: Content {
    let milliseconds = result.steps.map(\.milliseconds).reduce(0, +)
    return Content(
      verdict: result.verdict,
      summary: """
        \(result.steps.filter(\.ok).count) of \(result.steps.count) steps passed, in \
        \(Double(milliseconds / 100) / 10) s of real time.
        """,
      state: result.ok ? "passed" : "failed", cards: result.phones.map(Self.card),
      picture: TimelinePicture(timeline: result.timeline).svg,
      rows: result.steps.enumerated().map { Self.row(number: $0 + 1, $1) },
      hasKnowledge: !result.knowledge.isEmpty,
      knowledge: result.knowledge.map(Party.init), style: ReportTemplate.style)
  }

  private static func row(number: Int, _ step: DemoStep) -> Row {
    Row(
      number: number, time: DemoClock.stamp(step.time), sentence: step.sentence,
      facts: step.facts, milliseconds: step.milliseconds, mark: step.ok ? "passed" : "failed",
      state: step.ok ? "passed" : "failed")
  }

  private static func card(_ phone: DemoResult.Phone) -> Card {
    let role =
      switch phone.name {
      case "near": "was near diagnosed for half an hour"
      case "far": "was out of range"
      default: "published keys after a positive test"
      }
    let notice =
      phone.notices == 0
      ? "No notice." : "\(phone.notices) notice\(phone.notices == 1 ? "" : "s")."
    return Card(
      name: phone.name, role: role, level: "level-\(phone.riskLevel)",
      levelName: ["none", "low", "medium", "high"][min(max(phone.riskLevel, 0), 3)], notice: notice)
  }
}

/// The template and the style of the report.
///
/// The picture contains no user input and is inserted unescaped; Mustache escapes all other values.
enum ReportTemplate {
  static let page = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Firebreak: from a beacon to a notice</title>
    <style>{{{style}}}</style>
    </head>
    <body>
    <main>
    <header class="{{state}}">
    <p class="kicker">Firebreak &middot; from a beacon to a notice</p>
    <h1>{{verdict}}</h1>
    <p>{{summary}} Real cryptography, real HTTP on this machine, a simulated clock and radio.</p>
    </header>
    <section class="cards" aria-label="Phones">
    {{#cards}}
    <article class="{{level}}">
    <h2>{{name}}</h2>
    <p>{{role}}</p>
    <p class="level">risk: <strong>{{levelName}}</strong></p>
    <p>{{notice}}</p>
    </article>
    {{/cards}}
    </section>
    <section>
    <h2>Two days in one picture</h2>
    <div class="picture">{{{picture}}}</div>
    <p class="note">Each number is a step below, beside its time. Arrows are messages over HTTP; the
    shaded block shows two phones that received each other's beacons. Times are UTC.</p>
    </section>
    <section>
    <h2>Step by step</h2>
    <ol class="steps">
    {{#rows}}
    <li class="{{state}}">
    <span class="badge">{{number}}</span>
    <div>
    <p><strong>{{sentence}}</strong></p>
    <ul>{{#facts}}<li>{{.}}</li>{{/facts}}</ul>
    </div>
    <p class="when">{{time}}<br>{{mark}}, {{milliseconds}} ms</p>
    </li>
    {{/rows}}
    </ol>
    </section>
    <section>
    <h2>What each party has of the others</h2>
    {{#hasKnowledge}}
    <p class="note">Counted at the end of the run: everything that a party stored or received was
    searched for the PIN, the keys and the beacons of the others, as bytes, hex and base64.</p>
    <ul class="parties">
    {{#knowledge}}
    <li><h3>{{name}}</h3><p class="size">{{size}}</p>
    <dl><dt>has</dt>{{#has}}<dd>{{.}}</dd>{{/has}}{{^has}}<dd>nothing of them</dd>{{/has}}
    <dt>does not have</dt>{{#lacks}}<dd>{{.}}</dd>{{/lacks}}</dl></li>
    {{/knowledge}}
    </ul>
    <p class="note"><strong>What remains:</strong> a notice names a day. Someone who met only one
    person on that day can guess who was diagnosed. Someone with receivers in several places can
    link the beacons of a published key, for the day that it was valid, and so follow that phone
    from one place to the next.</p>
    {{/hasKnowledge}}
    {{^hasKnowledge}}<p>Not measured, because the demo ended early.</p>{{/hasKnowledge}}
    </section>
    </main>
    </body>
    </html>
    """

  static let style = """
    :root { --ink:#1d2733; --soft:#5d6b7a; --line:#d9e0e7; --paper:#fff; --ground:#f4f6f8;
      --calm:#2d7d6f; --warn:#b04c14; --blue:#2b5f9e; --band:#f3c9a8; --badge:#fff; }
    @media (prefers-color-scheme: dark) { :root { --ink:#e8edf2; --soft:#9fb0c0; --line:#33404d;
      --paper:#1b232c; --ground:#12181e; --calm:#58b8a5; --warn:#f08a4b; --blue:#7fb0e8;
      --band:#6b4429; --badge:#10201c; } }
    * { box-sizing: border-box; }
    body { margin:0; background:var(--ground); color:var(--ink);
      font:16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
    main { max-width:1080px; margin:0 auto; padding:32px 20px 64px; }
    header { border-left:6px solid var(--calm); padding:4px 0 4px 20px; margin-bottom:28px; }
    header.failed { border-color:var(--warn); }
    .kicker { margin:0; color:var(--soft); letter-spacing:.02em; }
    h1 { margin:.1em 0 .2em; font-size:2.1rem; line-height:1.2; }
    h2 { margin:0 0 10px; font-size:1.25rem; }
    section { background:var(--paper); border:1px solid var(--line); border-radius:12px;
      padding:22px; margin-bottom:22px; }
    section.cards { background:none; border:0; padding:0; display:grid; gap:16px;
      grid-template-columns:repeat(auto-fit, minmax(220px, 1fr)); }
    article { background:var(--paper); border:1px solid var(--line); border-radius:12px;
      border-top:6px solid var(--calm); padding:16px 20px; }
    article.level-2, article.level-3 { border-top-color:var(--warn); }
    article h2 { text-transform:capitalize; margin-bottom:2px; }
    article p { margin:2px 0; color:var(--soft); }
    article .level { color:var(--ink); font-size:1.05rem; margin-top:8px; }
    article.level-3 strong { color:var(--warn); }
    h3 { margin:0; font-size:1rem; }
    svg { display:block; width:100%; max-width:600px; height:auto; margin:0 auto;
      font-family:inherit; }
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
    .note { color:var(--soft); margin:10px 0 0; font-size:.92rem; }
    .steps { list-style:none; margin:0; padding:0; }
    .steps > li { display:grid; grid-template-columns:34px 1fr 150px; gap:12px; padding:12px 0;
      border-top:1px solid var(--line); }
    .steps > li:first-child { border-top:0; }
    .steps p { margin:0; } .steps ul { margin:4px 0 0; padding-left:18px; color:var(--soft); }
    .badge { width:26px; height:26px; border-radius:50%; background:var(--calm); color:var(--badge);
      display:grid; place-items:center; font-weight:600; font-size:.85rem; }
    .failed .badge { background:var(--warn); }
    .when { color:var(--soft); text-align:right; font-size:.9rem; }
    .parties { list-style:none; margin:14px 0 0; padding:0; display:grid; gap:16px;
      grid-template-columns:repeat(auto-fit, minmax(min(100%, 260px), 1fr)); }
    .parties > li { border:1px solid var(--line); border-radius:12px; padding:14px 16px; }
    .size { margin:0; color:var(--soft); font-size:.9rem; }
    dl { margin:8px 0 0; } dt { margin-top:6px; color:var(--soft); font-size:.9rem; }
    dd { margin:0; }
    @media (max-width:640px) { main { padding:20px 10px 40px; } section { padding:16px 10px; }
      h1 { font-size:1.6rem; } .steps > li { grid-template-columns:34px 1fr; }
      .when { grid-column:2; text-align:left; } }
    """
}
