// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import FieldTrials

@Suite("Sweeps of thresholds and weights")
struct ConfigurationSweepTests {
  private static let weights: [SweepRange] = [
    .values([100, 150]), .values([100]), .values([50]), .values([0]),
  ]

  @Test("All combinations with ascending thresholds are made, the others are counted")
  func grid() throws {
    let sweep = try ConfigurationSweep(
      thresholds: [
        .values([50, 60]), .steps(from: 55, to: 65, by: 5), .values([70]),
      ], weights: Self.weights)
    // 60 dB with 55 dB does not ascend, with either weight.
    #expect((sweep.points.count, sweep.skipped) == (10, 2))
    #expect(
      sweep.points.first == SweepPoint(thresholds: [50, 55, 70], weights: [100, 100, 50, 0]))
    #expect(sweep.points.last == SweepPoint(thresholds: [60, 65, 70], weights: [150, 100, 50, 0]))
  }

  @Test("Small weights are not written as 0")
  func texts() {
    let point = SweepPoint(thresholds: [50, 60, 70], weights: [150, 35.714285, 0.001, 0])
    #expect(point.thresholdText == "50 60 70")
    #expect(point.weightText == "150 35.71 0.001 0")
    #expect([0.009, 0.5, 12.34, 15].map(NumberText.number) == ["0.009", "0.5", "12.3", "15"])
  }

  @Test(
    "A range has its end if the steps reach it",
    arguments: [
      (0, 1, 0.1, 11), (0, 1, 0.3, 4), (5, 5, 1, 1), (5, 4, 1, nil), (0, 1, 0, nil),
      (0, 1, -1, nil), (0, 1_000_000, 1, nil),
    ] as [(Double, Double, Double, Int?)])
  func ranges(from: Double, to: Double, step: Double, count: Int?) {
    let values = SweepRange.steps(from: from, to: to, by: step).values(atMost: 1_000)
    #expect(values?.count == count)
    #expect(values.map { $0.allSatisfy { $0 <= to + 1e-9 } } ?? true)
  }

  @Test("Wrong counts, values out of range and fractions of decibels are rejected")
  func invalid() {
    let thresholds: [SweepRange] = [.values([50]), .values([60]), .values([70])]
    func error(_ thresholds: [SweepRange], _ weights: [SweepRange] = Self.weights) -> SweepError? {
      #expect(throws: SweepError.self) {
        try ConfigurationSweep(thresholds: thresholds, weights: weights)
      }
    }
    #expect(error(Array(thresholds.dropLast())) == .wrongCount("thresholds", 3))
    #expect(error(thresholds, Self.weights + [.values([0])]) == .wrongCount("weights", 4))
    #expect(error([.values([])] + thresholds.dropFirst()) == .invalidRange("thresholds"))
    #expect(error([.values([50.5])] + thresholds.dropFirst()) == .outOfRange("thresholds", 0...255))
    #expect(error([.values([256])] + thresholds.dropFirst()) == .outOfRange("thresholds", 0...255))
    #expect(
      error(thresholds, [.values([250.1])] + Self.weights.dropFirst())
        == .outOfRange("weights", 0...250))
    #expect(error([.values([90])] + thresholds.dropFirst()) == .noneAscending)
  }

  @Test("As many combinations as the limit are accepted, one more is not", arguments: [5, 6, 7])
  func limit(_ pointsMax: Int) throws {
    let make = {
      try ConfigurationSweep(
        thresholds: [.values([50, 51, 52]), .values([60]), .values([70])], weights: Self.weights,
        pointsMax: pointsMax)
    }
    if pointsMax < 6 {
      #expect(throws: SweepError.tooMany(pointsMax)) { try make() }
    } else {
      #expect(try make().points.count == 6)
    }
  }

  @Test("A combination has the score of the framework, on every threshold")
  func scores() throws {
    let scans = (0...255).map {
      ScanInstance(
        minimumAttenuation: UInt8($0), typicalAttenuation: UInt8($0),
        secondsSinceLastScan: $0 % 6 * 60)
    }
    let windows = (0..<9).map { index in
      var window = ExposureWindow()
      window.date = Date(timeIntervalSince1970: 1_614_556_800 + Double(index / 5) * 86_400)
      window.infectiousness = .high
      window.diagnosisReportType = .confirmedTest
      window.scanInstances = Array(scans.dropFirst(index * 28).prefix(40))
      return window
    }
    let seconds = AttenuationSeconds(windows)
    for thresholds in [[55, 63, 70], [0, 100, 255], [60, 60, 60], [254, 255, 255]] {
      let point = SweepPoint(thresholds: thresholds, weights: [200, 100, 37.5, 10])
      let published = PublishedConfiguration(
        name: "", source: "",
        rule: .windows(WindowTable(thresholds: thresholds, weights: point.weights)))
      let expected = try EncounterScoring(published).score(of: windows, today: windows[8].date)
      #expect(abs(seconds.score(by: point) - expected) < 1e-6)
    }
    #expect(AttenuationSeconds([]).score(by: SweepPoint(thresholds: [1, 2, 3], weights: [])) == 0)
  }

  @Test("The best combination comes first, and only the first ones have intervals")
  func order() throws {
    let made = try SampleTrials(near: [-56, -57, -56], far: [-64, -63, -64])
    let trials = try FieldTrials(at: made.folder.url).trials
    let encounters = TrialEncounters(of: trials, options: TrialOptions())
    let sweep = try ConfigurationSweep(
      thresholds: [.values([50]), .steps(from: 51, to: 80, by: 1), .values([90])],
      weights: [.values([100]), .values([100]), .values([0]), .values([0])])
    let rows = try SweepResult(sweep, of: encounters, TrialBootstrap(trialCount: 3)).rows
    #expect(rows.count == 30)
    // From 57 dB to 62 dB, all near phones and no far one are counted.
    #expect(rows.prefix(6).map(\.point.thresholds[1]) == [57, 58, 59, 60, 61, 62])
    #expect(rows.prefix(6).allSatisfy { $0.area == 1 } && (rows[6].area ?? 1) < 1)
    #expect(rows.count { $0.interval != nil } == SweepResult.intervalCount)
  }
}
