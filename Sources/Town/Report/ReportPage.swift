import Foundation
import Mustache

/// The report of a story as one HTML file that needs nothing else: no script, no font, no network.
public struct ReportPage {
  /// A step as the page shows it.
  private struct Row {
    let number: Int
    let time: String
    let sentence: String
    let facts: [String]
    let milliseconds: Int
    let mark: String
    let state: String
  }

  /// A phone as the page shows it.
  private struct Card {
    let name: String
    let role: String
    let level: String
    let levelName: String
    let says: String
  }

  /// All that the template asks for.
  private struct Content {
    let verdict: String
    let summary: String
    let state: String
    let cards: [Card]
    let picture: String
    let rows: [Row]
    let knowledge: [Knowledge]
    let style: String
  }

  private let result: StoryResult

  /// The page about `result`.
  public init(_ result: StoryResult) {
    self.result = result
  }

  /// The page's text.
  ///
  /// - Throws: the template's own error, which would be a mistake of ours.
  public func html() throws -> String {
    try MustacheTemplate(string: ReportTemplate.page).render(content)
  }

  private var content: Content {
    let milliseconds = result.steps.map(\.milliseconds).reduce(0, +)
    return Content(
      verdict: result.verdict,
      summary: """
        \(result.steps.filter(\.ok).count) of \(result.steps.count) steps held, in \
        \(Double(milliseconds / 100) / 10) s of real time.
        """,
      state: result.ok ? "held" : "failed", cards: result.phones.map(Self.card),
      picture: TimelinePicture(timeline: result.timeline).svg,
      rows: result.steps.enumerated().map { Self.row(number: $0 + 1, $1) },
      knowledge: Knowledge.afterTheStory, style: ReportTemplate.style)
  }

  private static func row(number: Int, _ step: StoryStep) -> Row {
    Row(
      number: number, time: StoryClock.stamp(step.time), sentence: step.sentence,
      facts: step.facts, milliseconds: step.milliseconds, mark: step.ok ? "held" : "did not hold",
      state: step.ok ? "held" : "failed")
  }

  private static func card(_ phone: StoryResult.Phone) -> Card {
    let role =
      switch phone.name {
      case "near": "sat half an hour beside the diagnosed"
      case "far": "was never within reach"
      default: "published keys after the diagnosis"
      }
    let says =
      phone.notices == 0
      ? "No notice." : "\(phone.notices) notice\(phone.notices == 1 ? "" : "s")."
    return Card(
      name: phone.name, role: role, level: "level-\(phone.riskLevel)",
      levelName: ["none", "low", "medium", "high"][min(max(phone.riskLevel, 0), 3)], says: says)
  }
}
