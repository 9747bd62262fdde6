import FieldTrials
import Foundation
import TestSupport
import Testing

/// The nine trials of MIT Lincoln Laboratory and the University of Arizona.
@Suite(
  "The published field trials", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct PublishedTrialsTests {
  private let folder = SharedData.url("fieldtrials")

  @Test("All that the origin counts is read")
  func counts() throws {
    let counts = try FieldTrials(at: folder).counts
    #expect((counts.trials, counts.phones, counts.phonesCompared) == (9, 111, 91))
    #expect(counts.phonesByOutcome == [.sick: 9, .high: 62, .low: 23, .none: 17])
    #expect((counts.advertisements, counts.identifiersSeen) == (550, 3_773))
    #expect((counts.sightings, counts.samples, counts.samplesImplausible) == (10_140, 70_081, 1))
    #expect((counts.linesSkipped, counts.filesUnreadable) == (0, 0))
  }

  @Test("The best configuration tells high from none in at least 97 of 100 pairs")
  func best() throws {
    let trials = try FieldTrials(at: folder).trials
    let ranking = try FieldTrialRanking(of: trials)
    #expect((ranking.positives, ranking.negatives) == (58, 15))
    let best = try #require(ranking.ranks.first)
    #expect(best.configuration.name == "narrow net 1")
    #expect(try #require(best.areaUnderCurve) >= 0.97)
    #expect(ranking.ranks.allSatisfy { ($0.areaUnderCurve ?? 0) > 0.7 })
  }

  @Test("Adding the receivers' offsets once more makes every attenuation-aware window net worse")
  func correctedTwice() throws {
    let trials = try FieldTrials(at: folder).trials
    let areas = { (ranking: FieldTrialRanking, name: String) in
      ranking.ranks.first { $0.configuration.name == name }?.areaUnderCurve ?? 0
    }
    let once = try FieldTrialRanking(of: trials)
    let twice = try FieldTrialRanking(of: trials, signal: .uncorrected)
    for name in ["narrow net 1", "narrow net 2", "wide net", "Smittestopp 2"] {
      #expect(areas(once, name) > areas(twice, name))
    }
    #expect(areas(twice, "narrow net 1") > 0.96)
  }
}
