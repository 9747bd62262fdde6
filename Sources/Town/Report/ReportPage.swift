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

  /// The values of the template.
  private struct Content {
    let verdict: String
    let summary: String
    let state: String
    let cards: [Card]
    let picture: String
    let rows: [Row]
    let knowledge: [PartyKnowledge]
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
      knowledge: PartyKnowledge.afterDemo, style: ReportTemplate.style)
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

/// The knowledge of one party after the demo, and its limits.
struct PartyKnowledge {
  let party: String
  let knows: String
  let cannotKnow: String

  static let afterDemo = [
    PartyKnowledge(
      party: "Near's phone",
      knows: "Its user was near someone with a positive test, on which day and for how long.",
      cannotKnow: "Who or where it was."),
    PartyKnowledge(
      party: "Far's phone", knows: "It was near none of the published keys.",
      cannotKnow: "If a person near it was diagnosed."),
    PartyKnowledge(
      party: "Diagnosed's phone", knows: "Its keys were accepted.",
      cannotKnow: "If anyone was notified."),
    PartyKnowledge(
      party: "Verification server", knows: "A PIN was issued and used once.",
      cannotKnow: "A key, a name, a phone."),
    PartyKnowledge(
      party: "Key server", knows: "Keys that were published with a valid token.",
      cannotKnow: "The PIN, the person, or who was near."),
    PartyKnowledge(
      party: "Readers of a key file",
      knows: "Between one and all of its keys are real; the rest is padding.",
      cannotKnow: "Which keys are real, or how many people uploaded."),
  ]
}
