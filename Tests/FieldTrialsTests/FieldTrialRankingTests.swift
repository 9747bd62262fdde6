// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Ranking of configurations")
struct FieldTrialRankingTests {
  @Test("The phone with a high alert scores above the other, and equal areas are sorted by name")
  func ranks() throws {
    let made = try SampleTrial()
    let trials = try FieldTrials(at: made.folder.url)
    let ranking = try FieldTrialRanking(of: trials.trials)
    #expect((ranking.positives, ranking.negatives) == (1, 1))
    #expect(ranking.ranks.count == PublishedConfiguration.all.count)
    let separated = ranking.ranks.dropLast()
    #expect(separated.allSatisfy { $0.areaUnderCurve == 1 })
    let names = separated.map(\.configuration.name)
    #expect(names == names.sorted())
    // Immuni counts from 15 minutes on, and the longer encounter has 13.
    #expect(ranking.ranks.last?.configuration.name == "Immuni")
    #expect(ranking.ranks.last?.areaUnderCurve == 0.5)
  }

  @Test("The better configuration comes first")
  func order() throws {
    let made = try SampleTrial()
    // Far but long: only weights that fall with attenuation rank it below near but short.
    try made.writeSightings("02", [("09:02:00", "-75"), ("09:06:00", "-75"), ("09:11:00", "-75")])
    try made.writeSightings("01", [("09:05:00", "-40")])
    let ranking = try FieldTrialRanking(of: try FieldTrials(at: made.folder.url).trials)
    #expect(ranking.ranks.first?.areaUnderCurve == 1)
    #expect(ranking.ranks.last?.areaUnderCurve == 0)
    #expect(
      ranking.ranks.first { $0.configuration.name == "framework default" }?.areaUnderCurve == 0)
  }

  @Test("iPhones, the sick phone and phones without sightings are not compared")
  func population() throws {
    let made = try SampleTrial()
    try made.log("02", "Sighting records:")
    let trials = try FieldTrials(at: made.folder.url)
    let ranking = try FieldTrialRanking(of: trials.trials)
    #expect((ranking.positives, ranking.negatives) == (1, 0))
    #expect(ranking.ranks.allSatisfy { $0.areaUnderCurve == nil })
  }

  @Test("The framework accepts every published configuration")
  func configurations() throws {
    for configuration in PublishedConfiguration.all {
      #expect(throws: Never.self) { try EncounterScoring(configuration) }
      #expect(!configuration.source.isEmpty)
    }
    #expect(Set(PublishedConfiguration.all.map(\.apiVersion)) == [1, 2])
  }
}

@Suite("Area under the curve")
struct AreaUnderCurveTests {
  @Test("Separate groups give 1 or 0, equal scores give one half")
  func ends() {
    #expect(AreaUnderCurve.of(positives: [3, 4], negatives: [1, 2]) == 1)
    #expect(AreaUnderCurve.of(positives: [1, 2], negatives: [3, 4]) == 0)
    #expect(AreaUnderCurve.of(positives: [5, 5, 5], negatives: [5, 5]) == 0.5)
  }

  @Test("A won pair counts one, a tie one half")
  func ties() {
    // 3 beats 1 and 2 and ties with 3: 2.5; 2 beats 1 and ties with 2: 1.5; 0 beats none: 0.
    #expect(AreaUnderCurve.of(positives: [3, 2, 0], negatives: [2, 1, 3]) == 4.0 / 9)
    // 5 ties twice and beats one of four: 2; 9 beats all: 4.
    #expect(AreaUnderCurve.of(positives: [9, 5], negatives: [5, 5, 1, 7]) == 6.0 / 8)
  }

  @Test("An empty group gives no area")
  func empty() {
    #expect(AreaUnderCurve.of(positives: [], negatives: [1]) == nil)
    #expect(AreaUnderCurve.of(positives: [1], negatives: []) == nil)
  }

  @Test("The area is the share of won pairs")
  func pairs() {
    let positives = (0..<40).map { Double($0 * 37 % 17) }
    let negatives = (0..<30).map { Double($0 * 23 % 13) }
    let won = positives.reduce(0.0) { sum, score in
      sum + negatives.reduce(0) { $0 + (score > $1 ? 1 : score == $1 ? 0.5 : 0) }
    }
    #expect(AreaUnderCurve.of(positives: positives, negatives: negatives) == won / 1_200)
  }
}

/// The nine trials of MIT Lincoln Laboratory and the University of Arizona.
@Suite(
  "The published field trials", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct PublishedTrialsTests {
  private let folder = SharedData.url("fieldtrials")

  @Test("The published files have the published counts")
  func counts() throws {
    let counts = try FieldTrials(at: folder).counts
    #expect((counts.trials, counts.phones, counts.phonesCompared) == (9, 111, 91))
    #expect(counts.phonesByLabelledOutcome == [.sick: 9, .high: 62, .low: 23, .none: 17])
    #expect(counts.phonesByOutcome == [.sick: 9, .high: 63, .low: 20, .none: 19])
    #expect((counts.advertisements, counts.identifiersSeen) == (550, 3_773))
    #expect((counts.sightings, counts.samples, counts.samplesImplausible) == (10_140, 70_081, 1))
    #expect((counts.linesSkipped, counts.filesUnreadable) == (0, 0))
  }

  @Test("The best configuration ranks at least 97 of 100 pairs correctly")
  func best() throws {
    let trials = try FieldTrials(at: folder).trials
    let ranking = try FieldTrialRanking(of: trials)
    #expect((ranking.positives, ranking.negatives) == (58, 15))
    let best = try #require(ranking.ranks.first)
    #expect(best.configuration.name == "Koronavilkku 2")
    #expect(try #require(best.areaUnderCurve) >= 0.97)
    #expect(ranking.ranks.allSatisfy { ($0.areaUnderCurve ?? 0) > 0.5 })
    let naive = try #require(ranking.ranks.first { $0.configuration.name == "naive" })
    #expect(try #require(naive.areaUnderCurve) > 0.7)
    for rank in ranking.ranks {
      let (area, interval) = (try #require(rank.areaUnderCurve), try #require(rank.interval))
      #expect(interval.low <= area && area <= interval.high)
      // No sample of trials can make an error that did not occur.
      #expect(interval.low < 1 || area == 1)
    }
  }

  @Test("The corrected alerts are those of three iPhones, so that no area changes")
  func corrected() throws {
    let trials = try FieldTrials(at: folder)
    #expect(trials.counts.alertsCorrected == 3)
    let ranking = try FieldTrialRanking(of: trials.trials)
    #expect(ranking.ranks.allSatisfy { $0.areaUnderCurve == $0.labelledArea })
    #expect(ranking.encounters.losses[.phonesIPhone] == 11)
    #expect(ranking.encounters.losses[.beaconsPowerUnknown] == nil)
  }

  @Test(
    "Adding the receivers' offsets twice lowers the area of every attenuation-aware window configuration"
  )
  func correctedTwice() throws {
    let trials = try FieldTrials(at: folder).trials
    let areas = { (ranking: FieldTrialRanking, name: String) in
      ranking.ranks.first { $0.configuration.name == name }?.areaUnderCurve ?? 0
    }
    let once = try FieldTrialRanking(of: trials)
    let twice = try FieldTrialRanking(of: trials, options: TrialOptions(signal: .uncorrected))
    for name in ["narrow net 1", "narrow net 2", "wide net 1", "wide net 2", "Smittestopp 2"] {
      #expect(areas(once, name) > areas(twice, name))
    }
    #expect(areas(twice, "narrow net 1") > 0.96)
  }
}
