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
