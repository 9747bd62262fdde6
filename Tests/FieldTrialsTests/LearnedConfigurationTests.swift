// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Fitting with one trial held out")
struct LearnedConfigurationTests {
  private func learned(near: [Int], far: [Int]) throws -> LearnedConfiguration? {
    let made = try SampleTrials(near: near, far: far)
    let trials = try FieldTrials(at: made.folder.url).trials
    let encounters = TrialEncounters(of: trials, options: TrialOptions())
    return try LearnedConfiguration(
      try Self.grid, of: encounters, TrialBootstrap(trialCount: trials.count))
  }

  /// One threshold of 56, 60 or 66 dB, with weight below it.
  private static var grid: ConfigurationSweep {
    get throws {
      try ConfigurationSweep(
        thresholds: [.values([50]), .values([56, 60, 66]), .values([90])],
        weights: [.values([100]), .values([100]), .values([0]), .values([0])])
    }
  }

  @Test("If all trials are alike, the fitted combination separates the held-out phones")
  func alike() throws {
    let learned = try #require(
      try learned(near: [-58, -58, -58, -58], far: [-64, -64, -64, -64]))
    #expect(learned.folds.map(\.trial) == ["room_0", "room_1", "room_2", "room_3"])
    #expect(learned.folds.allSatisfy { $0.point.thresholds[1] == 60 && $0.threshold == 360 })
    #expect(learned.heldOutArea == 1)
    #expect((learned.errors.falseAlerts, learned.errors.missedAlerts) == (0, 0))
    #expect(learned.phones.map(\.score).sorted() == [0, 0, 0, 0, 2, 2, 2, 2])
  }

  @Test("A trial that differs is not used for its own fit")
  func different() throws {
    // In the last trial only 56 dB would separate the phones; the others choose 60 dB.
    let learned = try #require(
      try learned(near: [-58, -58, -58, -55], far: [-64, -64, -64, -59]))
    let last = try #require(learned.folds.last)
    #expect(last.point.thresholds[1] == 60)
    let own = learned.phones.filter { $0.trial == 3 }
    #expect(own.map(\.score) == [2, 2])
    // The held-out negative of the last trial ties with all four positives: 14 of 16 pairs are won.
    #expect(learned.heldOutArea == 14.0 / 16)
    #expect((learned.errors.falseAlerts, learned.errors.missedAlerts) == (1, 0))
  }

  @Test("The held-out trial has no influence on its own fit")
  func independent() throws {
    // The first trial needs 60 dB, the second one 56 dB. Fitted to both, 56 dB would be chosen twice.
    let learned = try #require(try learned(near: [-58, -55], far: [-64, -59]))
    #expect(learned.folds.map(\.point.thresholds[1]) == [56, 60])
    #expect(learned.phones.map(\.score) == [0, 0, 2, 2])
    #expect(learned.heldOutArea == 0.5)
  }

  @Test("Without a second trial there is nothing to fit to")
  func single() throws {
    #expect(try learned(near: [-58], far: [-64]) == nil)
  }

  @Test("The fitted threshold is in the widest gap with the fewest errors")
  func threshold() {
    func fit(_ positives: [Double], _ negatives: [Double]) -> Double {
      AlertFit.threshold(
        of: positives.map { ScoredPhone(trial: 0, isPositive: true, score: $0) }
          + negatives.map { ScoredPhone(trial: 0, isPositive: false, score: $0) })
    }
    #expect(fit([100, 200], [10, 20]) == 60)
    // 10...100 and 300...400 both make one error; the second is wider.
    #expect(fit([100, 400], [10, 300]) == 350)
    #expect(fit([0, 0], [0]) == 1)
    // Small weights give small scores, which still can be separated.
    #expect(fit([0.75], [0.25]) == 0.5)
    #expect(fit([0.5, 0.5], [0.5]) == 0.5)
  }
}
