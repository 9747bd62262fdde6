// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FieldTrials

@Suite("Confidence intervals by trial")
struct TrialBootstrapTests {
  /// Phones of `trials` trials with reproducible scores; those of positives are higher on the whole.
  static func phones(trials: Int, each: Int = 6) -> [ScoredPhone] {
    (0..<trials * each).map { index in
      let isPositive = index % 2 == 0
      return ScoredPhone(
        trial: index / each, isPositive: isPositive,
        score: Double(index * 37 % 23) + (isPositive ? 8 : 0))
    }
  }

  @Test("The pairs by trial have the area of the scores")
  func pairs() {
    let phones = Self.phones(trials: 5) + [ScoredPhone(trial: 0, isPositive: false, score: 8)]
    let pairs = TrialPairs(phones, trialCount: 5)
    func area(_ phones: [ScoredPhone]) -> Double? {
      AreaUnderCurve.of(
        positives: phones.filter(\.isPositive).map(\.score),
        negatives: phones.filter { !$0.isPositive }.map(\.score))
    }
    #expect(pairs.area == area(phones))
    #expect(pairs.area(without: 3) == area(phones.filter { $0.trial != 3 }))
    let drawn = [0, 0, 2, 4, 4].flatMap { trial in phones.filter { $0.trial == trial } }
    #expect(pairs.area(drawing: [2, 0, 1, 0, 2]) == area(drawn))
    #expect(pairs.area(drawing: [0, 0, 0, 0, 0]) == nil)
  }

  @Test("The same seed gives the same interval, and another seed another one")
  func seeds() throws {
    let pairs = TrialPairs(Self.phones(trials: 9), trialCount: 9)
    let intervals = [1, 1, 2].map { TrialBootstrap(trialCount: 9, seed: $0).interval(of: pairs) }
    #expect(intervals[0] == intervals[1] && intervals[0] != intervals[2])
    let interval = try #require(intervals[0])
    let area = try #require(pairs.area)
    #expect(interval.low < area && area < interval.high && interval.unusedSamples == 0)
  }

  @Test("Trials are drawn as a whole: equal phones in one trial do not narrow the interval")
  func clusters() throws {
    let phones = Self.phones(trials: 6)
    let repeated = phones.flatMap { Array(repeating: $0, count: 10) }
    let bootstrap = TrialBootstrap(trialCount: 6)
    let one = bootstrap.interval(of: TrialPairs(phones, trialCount: 6))
    let ten = bootstrap.interval(of: TrialPairs(repeated, trialCount: 6))
    #expect(try #require(one).low == #require(ten).low && one?.high == ten?.high)
  }

  @Test("Samples without a negative are left out and counted")
  func unused() throws {
    let phones = [
      ScoredPhone(trial: 0, isPositive: true, score: 2),
      ScoredPhone(trial: 1, isPositive: false, score: 1),
    ]
    let interval = try #require(
      TrialBootstrap(trialCount: 2, sampleCount: 1_000).interval(
        of: TrialPairs(phones, trialCount: 2)))
    #expect((interval.low, interval.high) == (1, 1))
    // Half of the samples draw one trial twice.
    #expect((400...600).contains(interval.unusedSamples))
    let positive = TrialPairs(Array(phones.prefix(1)), trialCount: 2)
    #expect(TrialBootstrap(trialCount: 2).interval(of: positive) == nil)
  }

  @Test("The interval of a known distribution has its quantiles")
  func quantiles() throws {
    // The negative of one trial beats all positives; drawn n times, it leaves an area of 1 - n / 8.
    let phones = (0..<8).flatMap { trial in
      [
        ScoredPhone(trial: trial, isPositive: true, score: 1),
        ScoredPhone(trial: trial, isPositive: false, score: trial == 0 ? 2 : 0),
      ]
    }
    let interval = try #require(
      TrialBootstrap(trialCount: 8, sampleCount: 20_000).interval(
        of: TrialPairs(phones, trialCount: 8)))
    // It is drawn at most three times in 98.9 % of the samples, and at most twice in 93.3 %.
    #expect((interval.low, interval.high) == (5.0 / 8, 1))
  }
}
