// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics
import Testing
import World

@testable import VerificationServer

@Suite("Codes in the metrics of a verification server")
struct VerificationMetricsTests {
  private static let day = 20_000
  private let dayStart = Date(unixDay: Self.day)

  private func counts(issued: Int, claimed: Int = 0, day: Int = Self.day) -> CodeCounts {
    var counts = CodeCounts(day: Int64(day))
    counts.countIssued(issued)
    for _ in 0..<claimed { counts.countClaimed(after: 60) }
    return counts
  }

  /// The codes that are shown at `now`, by step.
  private func shown(_ counts: [CodeCounts], at now: Date) -> [String: Double] {
    let families = VerificationMetrics.codes(counts, at: now)
    let samples = families.first { $0.name == "firebreak_statistics_codes" }?.samples ?? []
    return Dictionary(
      samples.map { ($0.labels.first?.value ?? "", $0.value) }, uniquingKeysWith: { $1 })
  }

  @Test("A day is shown 48 hours after its end, and not a second before")
  func delay() {
    let end = dayStart.addingTimeInterval(86_400)
    let day = counts(issued: 25, claimed: 19)
    #expect(shown([day], at: end.addingTimeInterval(48 * 3_600 - 1)).isEmpty)
    #expect(
      shown([day], at: end.addingTimeInterval(48 * 3_600))
        == ["issued": 20, "claimed": 10, "certified": 0])
  }

  @Test("A day with fewer than ten codes is never shown", arguments: [9, 10, 11])
  func few(issued: Int) {
    let now = dayStart.addingTimeInterval(10 * 86_400)
    #expect(shown([counts(issued: issued, claimed: 9)], at: now).isEmpty == (issued < 10))
  }

  @Test(
    "The used share of a budget is shown in quarters",
    arguments: [(0, 0), (0.249, 0), (0.25, 0.25), (0.74, 0.5), (1, 1)])
  func budget(share: Double, shown: Double) {
    #expect(VerificationMetrics.quarters(share) == shown)
  }

  @Test("The newest day that may be shown counts")
  func newest() {
    let now = dayStart.addingTimeInterval(5 * 86_400)
    let days = [
      counts(issued: 30, day: Self.day), counts(issued: 40, day: Self.day + 1),
      counts(issued: 5, day: Self.day + 2), counts(issued: 90, day: Self.day + 3),
    ]
    #expect(shown(days, at: now)["issued"] == 40)
  }
}
