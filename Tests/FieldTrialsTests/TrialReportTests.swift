// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Reports of trials")
struct TrialReportTests {
  private func phones(_ positives: [Double], _ negatives: [Double]) -> [ScoredPhone] {
    positives.map { ScoredPhone(trial: 0, isPositive: true, score: $0) }
      + negatives.map { ScoredPhone(trial: 0, isPositive: false, score: $0) }
  }

  @Test("The area below the ROC curve is the area under the curve, also with ties")
  func curve() throws {
    let (positives, negatives) = ([9.0, 7, 7, 3], [7.0, 3, 1, 1, 0])
    let points = ROCCurve(phones(positives, negatives)).points
    let area = zip(points, points.dropFirst()).reduce(0.0) { sum, pair in
      sum + (pair.1.falseShare - pair.0.falseShare) * (pair.0.trueShare + pair.1.trueShare) / 2
    }
    let expected = try #require(AreaUnderCurve.of(positives: positives, negatives: negatives))
    #expect(abs(area - expected) < 1e-12)
    #expect(points.first == .init(falseShare: 0, trueShare: 0))
    #expect(points.last == .init(falseShare: 1, trueShare: 1))
    #expect(ROCCurve(phones([1], [])).points.isEmpty)
  }

  @Test("Calibration has five groups of ascending scores; equal scores share a group")
  func calibration() {
    let groups = Calibration(phones([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])).groups
    #expect(groups.map(\.count) == [2, 2, 2, 2, 2])
    #expect(groups.map(\.positives) == [0, 0, 1, 2, 2])
    #expect(groups.map(\.lowest) == [1, 3, 5, 7, 9])
    let ties = Calibration(phones([2, 2, 2, 2], [0, 0, 0, 0, 0, 2])).groups
    #expect(ties.map(\.count) == [5, 5] && ties.map(\.positives) == [0, 4])
    #expect(Calibration([]).groups.isEmpty)
  }

  private func table(_ made: SampleTrial) throws -> (FieldTrials, FieldTrialRanking, PhoneTable) {
    let trials = try FieldTrials(at: made.folder.url)
    let ranking = try FieldTrialRanking(of: trials.trials)
    return (trials, ranking, try PhoneTable(trials.trials, ranking))
  }

  @Test("The CSV has a line for each phone, and quotes names with separators")
  func csv() throws {
    let table = try table(SampleTrial(name: "a,b")).2
    let lines = table.csv.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 5 && lines.last == "")
    #expect(lines[0].hasPrefix("trial,phone,device,alert,labelled,excluded,scans,seconds,"))
    // 240 s each at 51, 60 and 70 dB.
    #expect(lines[1].hasPrefix("\"a,b\",01,android,high,high,,3,720,50,60.3,"))
    #expect(lines[2].hasPrefix("\"a,b\",02,android,none,none,,1,"))
    #expect(lines[3].hasPrefix("\"a,b\",99,iphone,sick,sick,infected,0,0,,,,"))
    let narrow = try #require(
      table.configurations.firstIndex { $0.name == "narrow net 1" })
    #expect(table.rows.first?.scores?[narrow] == 696)
  }

  @Test("A phone that is not compared has its reason")
  func exclusions() throws {
    let made = try SampleTrial()
    try made.log("02", "Sighting records:")
    #expect(try table(made).2.rows.map(\.exclusion) == [nil, .noSightings, .infected])
    try made.write("Room/room_setup.json", #"{"phones": [{"id": "01", "calconf": "i"}]}"#)
    #expect(try table(made).2.rows.first?.exclusion == .iPhone)
  }

  @Test("The page has a row for each phone, a curve for each configuration, and no script")
  func page() throws {
    let (trials, ranking, table) = try table(SampleTrial(name: "<script>a&b</script>"))
    let html = TrialReportPage(trials.counts, ranking, table).html
    #expect(!html.contains("<script") && html.contains("&lt;script&gt;a&amp;b"))
    #expect(html.components(separatedBy: "<polyline").count - 1 == ranking.ranks.count)
    let rows = html.components(separatedBy: "class=\"phones\"").last ?? ""
    #expect(rows.components(separatedBy: "<tr>").count - 1 == 4)
    #expect(!html.contains("http://") && !html.contains("src="))
  }

  @Test("The page states each threshold, the variants of the area, and the power of iPhones")
  func variants() throws {
    let (trials, ranking, table) = try table(SampleTrial())
    let html = TrialReportPage(trials.counts, ranking, table).html
    #expect(html.contains("alert from 780; log 1.000; labelled 1.000"))
    #expect(html.contains("alert above 900;") && html.contains("no threshold;"))
    #expect(html.contains("That of the setup is used; with that of the log, areas change by"))
    #expect(html.contains("False<small>of 1</small>") && html.contains("Missed<small>of 1</small>"))
    #expect(html.contains("From 1 to 1 means only"))
    #expect(!html.contains("<h2>Sweep</h2>"))
  }

  @Test("The page has the first combinations of a sweep, and says that their areas are too high")
  func sweep() throws {
    let (trials, ranking, table) = try table(SampleTrial())
    let sweep = try ConfigurationSweep(
      thresholds: [.values([50]), .steps(from: 51, to: 80, by: 1), .values([90])],
      weights: [.values([100]), .values([100]), .values([0]), .values([0])])
    let result = try SweepResult(sweep, of: ranking.encounters, ranking.bootstrap)
    let html = TrialReportPage(trials.counts, ranking, table, sweep: result).html
    #expect(html.contains("The first 20 of 30 combinations."))
    #expect(html.contains("too high for other phones"))
    let section = html.components(separatedBy: "<h2>Sweep</h2>").last?
      .components(separatedBy: "</section>").first
    #expect(section?.components(separatedBy: "<tr>").count == 22)
  }
}
