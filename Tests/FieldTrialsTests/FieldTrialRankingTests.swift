import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Ranking of configurations")
struct FieldTrialRankingTests {
  @Test("The high phone scores above the other one, and equal areas go by name")
  func ranks() throws {
    let made = try MadeUpTrial()
    let trials = try FieldTrials(at: made.folder.url)
    let ranking = try FieldTrialRanking(of: trials.trials)
    #expect((ranking.positives, ranking.negatives) == (1, 1))
    #expect(ranking.ranks.count == PublishedConfiguration.all.count)
    #expect(ranking.ranks.allSatisfy { $0.areaUnderCurve == 1 })
    let names = ranking.ranks.map(\.configuration.name)
    #expect(names == names.sorted())
  }

  @Test("The better configuration comes first")
  func order() throws {
    let made = try MadeUpTrial()
    // Far but long: only weights that fall with attenuation tell it from near but short.
    try made.heard("02", [("09:02:00", "-75"), ("09:06:00", "-75"), ("09:11:00", "-75")])
    try made.heard("01", [("09:05:00", "-40")])
    let ranking = try FieldTrialRanking(of: try FieldTrials(at: made.folder.url).trials)
    #expect(ranking.ranks.first?.areaUnderCurve == 1)
    #expect(ranking.ranks.last?.areaUnderCurve == 0)
    #expect(
      ranking.ranks.first { $0.configuration.name == "framework default" }?.areaUnderCurve == 0)
  }

  @Test("iPhones, the sick phone and phones that heard nothing are not compared")
  func population() throws {
    let made = try MadeUpTrial()
    try made.log("02", "Sighting records:")
    let trials = try FieldTrials(at: made.folder.url)
    let ranking = try FieldTrialRanking(of: trials.trials)
    #expect((ranking.positives, ranking.negatives) == (1, 0))
    #expect(ranking.ranks.allSatisfy { $0.areaUnderCurve == nil })
  }

  @Test("The framework takes every published configuration")
  func configurations() throws {
    for configuration in PublishedConfiguration.all {
      #expect(throws: Never.self) { try EncounterScoring(configuration) }
      #expect(!configuration.source.isEmpty)
    }
    #expect(Set(PublishedConfiguration.all.map(\.apiVersion)) == [1, 2])
  }
}
