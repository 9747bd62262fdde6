// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import KeyServer

/// An observer who knows the software guesses from a file how many of its keys are real.
@Suite("Number of real keys in a padded file")
struct PaddingObserverTests {
  private static let start = RunningKeyServer.start
  private static let end = start.addingTimeInterval(14_400)

  /// A file as the observer sees it, and the numbers that the observer wants to know.
  private struct Sample {
    let features: [Double]
    let realKeys: Int
    let realUploads: Int
  }

  /// The properties of a key that a file shows, without its bytes.
  private struct Shape: Hashable {
    let start: UInt32
    let period: UInt32
    let risk: UInt8
    let type: ReportType?
    let days: Int32?

    init(_ key: PublishableKey) {
      start = key.key.key.rollingStart.rawValue
      period = key.key.key.rollingPeriod
      risk = key.key.transmissionRiskLevel
      type = key.key.reportType
      days = key.key.daysSinceOnsetOfSymptoms
    }
  }

  /// The uploads of a period by phones whose habits the server does not know.
  private static func uploads(_ generator: inout SeededGenerator) throws -> [[PublishableKey]] {
    let today = try #require(IntervalNumber(start)).startOfDay.rawValue
    return try (0..<Int.random(in: 1...8, using: &generator)).map { _ in
      let days = Bool.random(using: &generator) ? 14 : UInt32.random(in: 1...14, using: &generator)
      let onset = UInt32.random(in: 0...9, using: &generator)
      return try (1...days).map { age in
        let key = try #require(
          TemporaryExposureKey(
            bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) },
            rollingStart: IntervalNumber(rawValue: today - age * 144)))
        let diagnosisKey = try #require(
          DiagnosisKey(
            key: key, transmissionRiskLevel: age > onset + 2 ? 1 : 6, reportType: .confirmedTest,
            daysSinceOnsetOfSymptoms: Int32(onset) - Int32(age)))
        return PublishableKey(
          key: diagnosisKey, regions: ["PL"], travels: false, releasedAt: start)
      }
    }
  }

  private static func sample(_ seed: Int) throws -> Sample {
    var generator = SeededGenerator(seed: UInt64(seed))
    let uploads = try uploads(&generator)
    let real = uploads.flatMap(\.self)
    var export = StoreScene.export(minimum: 400)
    export.paddingRange = 40
    let plan = try #require(
      ClosingPlan(
        for: [export], after: ExportProgress(closedUntil: ["": start]), at: end,
        randomness: TestRandomness(seed: UInt64(seed) + 1_000_000)))
    var counts = [real.count]
    let padding = plan.padding(of: plan.periods, counts: &counts) { _, _ in real }
    #expect((400...440).contains(real.count + padding.count))
    return Sample(
      features: features(real + padding), realKeys: real.count, realUploads: uploads.count)
  }

  /// Numbers of a file that depend on how its padding was made.
  private static func features(_ keys: [PublishableKey]) -> [Double] {
    let shapes = Dictionary(grouping: keys, by: Shape.init).mapValues(\.count)
    let counts = shapes.values.sorted()
    let days = Dictionary(grouping: keys) { $0.key.key.rollingStart }.mapValues(\.count)
    let onsets = Dictionary(grouping: shapes.keys) { Int64($0.start) / 144 - Int64($0.days ?? 0) }
    let byDay = days.values.sorted()
    let least = counts.first ?? 0
    func count(_ condition: (Int) -> Bool) -> Int { counts.count(where: condition) }
    let numbers = [
      shapes.count, count { $0 == 1 }, count { $0 == least }, count { $0 == least + 1 },
      count { $0 % 2 == 1 }, counts.last ?? 0, counts[counts.count / 2], least,
      byDay.last ?? 0, byDay.first ?? 0, (byDay.last ?? 0) - (byDay.first ?? 0), onsets.count,
      keys.count / max(1, counts.last ?? 1), keys.count % max(1, shapes.count), keys.count,
      counts.reduce(0) { $0 + $1 * $1 } / max(1, keys.count),
    ]
    return numbers.map(Double.init)
  }

  /// The guesses of one estimator for `test`, after it has seen `training` with its true numbers.
  private typealias Estimator = (_ training: [Sample], _ test: Sample) -> [Int]

  private static func estimators(_ truth: @escaping (Sample) -> Int) -> [Estimator] {
    let names = 16
    // Each number by itself: as the answer, as a line fitted to the training files, and by the training files
    // that are most alike in it.
    let single = (0..<names).flatMap { feature -> [Estimator] in
      [
        { _, test in [Int(test.features[feature])] },
        { training, test in
          let line = Line(training.map { ($0.features[feature], Double(truth($0))) })
          return [Int(line.value(at: test.features[feature]).rounded())]
        },
        { training, test in
          let nearest = training.min {
            abs($0.features[feature] - test.features[feature])
              < abs($1.features[feature] - test.features[feature])
          }
          return nearest.map { [truth($0)] } ?? []
        },
      ]
    }
    // All numbers together: the training file that is most alike.
    let all: Estimator = { training, test in
      let scales = (0..<names).map { feature in
        1 + training.reduce(0) { $0 + abs($1.features[feature]) } / Double(training.count)
      }
      func distance(_ other: Sample) -> Double {
        (0..<names).reduce(0) {
          $0 + abs(other.features[$1] - test.features[$1]) / scales[$1]
        }
      }
      return training.min { distance($0) < distance($1) }.map { [truth($0)] } ?? []
    }
    return single + [all]
  }

  private struct Line {
    private let slope: Double
    private let offset: Double

    init(_ points: [(x: Double, y: Double)]) {
      let count = Double(points.count)
      let (x, y) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
      let variance = points.reduce(0) { $0 + ($1.x - x) * ($1.x - x) }
      let common = points.reduce(0) { $0 + ($1.x - x) * ($1.y - y) }
      slope = variance > 0 ? common / variance : 0
      offset = y - slope * x
    }

    func value(at x: Double) -> Double { offset + slope * x }
  }

  /// The part of `tests` whose number an estimator guesses exactly.
  private static func hits(
    of estimator: Estimator, after training: [Sample], in tests: [Sample],
    _ truth: (Sample) -> Int
  ) -> Double {
    let count = tests.count { estimator(training, $0).contains(truth($0)) }
    return Double(count) / Double(tests.count)
  }

  @Test(
    "The best of many estimators guesses the number of real keys or uploads no better than chance",
    arguments: [true, false])
  func chance(ofKeys: Bool) throws {
    let truth: (Sample) -> Int = { ofKeys ? $0.realKeys : $0.realUploads }
    let training = try (0..<150).map { try Self.sample($0) }
    let choosing = try (1_000..<1_100).map { try Self.sample($0) }
    let heldOut = try (2_000..<2_200).map { try Self.sample($0) }
    // The estimator that is best on other files is judged on files that no choice depended on.
    let estimators = Self.estimators(truth).map { estimator in
      (guess: estimator, hits: Self.hits(of: estimator, after: training, in: choosing, truth))
    }
    let best = try #require(estimators.max { $0.hits < $1.hits }).guess
    let hits = Self.hits(of: best, after: training, in: heldOut, truth)
    // Without the file, the best answer is the most frequent number.
    let frequencies = Dictionary(grouping: heldOut, by: truth).mapValues(\.count)
    let chance = Double(frequencies.values.max() ?? 0) / Double(heldOut.count)
    let deviation = (chance * (1 - chance) / Double(heldOut.count)).squareRoot()
    #expect(hits <= chance + 3 * deviation, "\(hits) of the files, by chance \(chance)")
  }

  // MARK: A key of a part of a day

  /// An upload of two weeks at `start` with one key of a part of the day `age` days ago.
  private static func upload(
    at start: Date, partial age: UInt32, _ part: Range<UInt32>
  ) throws -> [PublishableKey] {
    let today = try #require(IntervalNumber(start)).startOfDay.rawValue
    return try (UInt32(age == 0 ? 0 : 1)...14).map { day in
      let isPartial = day == age
      let first = today - day * 144 + (isPartial ? part.lowerBound : 0)
      let key = try #require(
        TemporaryExposureKey(
          bytes: SystemRandomness().bytes(16), rollingStart: IntervalNumber(rawValue: first),
          rollingPeriod: isPartial ? UInt32(part.count) : 144))
      let diagnosisKey = try #require(
        DiagnosisKey(
          key: key, transmissionRiskLevel: 6, reportType: .confirmedTest,
          daysSinceOnsetOfSymptoms: 3 - Int32(day)))
      return PublishableKey(key: diagnosisKey, regions: ["PL"], travels: false, releasedAt: start)
    }
  }

  /// The place of a key of a part of a day: its day, and whether it begins or ends with the day.
  private struct Place: Hashable {
    let day: UInt32
    let begins: Bool
    let ends: Bool

    init?(_ key: TemporaryExposureKey) {
      day = key.rollingStart.startOfDay.rawValue
      begins = key.rollingStart.rawValue == day
      ends = key.rollingStart.rawValue + key.rollingPeriod == day + 144
      if begins && ends { return nil }
    }
  }

  /// The keys of parts of days by their place in a file with one real one, and the place of that.
  private static func places(
    _ seed: Int, partial age: UInt32, _ part: Range<UInt32>, from start: Date = start,
    hours: Double = 4, minimum: Int = 1_000
  ) throws -> (counts: [Place: Int], real: Place) {
    let real = try upload(at: start, partial: age, part)
    var export = StoreScene.export(minimum: minimum)
    export.paddingRange = 100
    let plan = try #require(
      ClosingPlan(
        for: [export], after: ExportProgress(closedUntil: ["": start]),
        at: start.addingTimeInterval(hours * 3_600), randomness: TestRandomness(seed: UInt64(seed)))
    )
    var counts = [real.count]
    let padding = plan.padding(of: plan.periods, counts: &counts) { _, _ in real }
    let places = (real + padding).compactMap { Place($0.key.key) }
    return (
      Dictionary(grouping: places, by: \.self).mapValues(\.count),
      try #require(real.compactMap { Place($0.key.key) }.first)
    )
  }

  @Test(
    "A real key of a part of any day has others of its shape beside it, also in a small file",
    arguments: [0..<37, 107..<144, 50..<87] as [Range<UInt32>], [200, 1_000])
  func partialKey(part: Range<UInt32>, minimum: Int) throws {
    for seed in 0..<(Proof.isRunning ? 1_000 : 45) {
      let age = UInt32(seed % 15)
      // Of the day itself, only a key that ended two hours ago is published.
      guard age > 0 || part.upperBound < 80 else { continue }
      let (counts, real) = try Self.places(seed, partial: age, part, minimum: minimum)
      #expect(counts[real, default: 0] >= 2, "seed \(seed)")
    }
  }

  @Test(
    "So it has in a period across midnight, and in one of three days",
    arguments: [(10.0, 4.0), (0, 72)])
  func longPeriods(startHour: Double, hours: Double) throws {
    for seed in 0..<30 {
      let (counts, real) = try Self.places(
        seed, partial: UInt32(seed % 14) + 1, 0..<37,
        from: Self.start.addingTimeInterval(startHour * 3_600), hours: hours)
      #expect(counts[real, default: 0] >= 2, "seed \(seed)")
    }
  }

  @Test("An observer who knows that one key of a part of a day is real finds it in few files")
  func partialKeyObserver() throws {
    let count = Proof.isRunning ? 2_000 : 200
    let guesses: [(String, ([Place: Int]) -> Place?)] = [
      ("rarest", { $0.min { ($0.value, $0.key.day) < ($1.value, $1.key.day) }?.key }),
      ("most frequent", { $0.max { ($0.value, $0.key.day) < ($1.value, $1.key.day) }?.key }),
      ("oldest", { $0.min { ($0.key.day, $0.value) < ($1.key.day, $1.value) }?.key }),
      (
        "frequent and old",
        { places in
          places.filter { $0.value * 10 > places.values.reduce(0, +) }.min {
            $0.key.day < $1.key.day
          }?
          .key
        }
      ),
    ]
    var generator = SeededGenerator(seed: 7)
    var found = guesses.map { _ in 0.0 }
    for seed in 0..<count {
      let start = UInt32.random(in: 0...143, using: &generator)
      let end = UInt32.random(in: start + 1...144, using: &generator)
      let age = UInt32.random(in: 1...14, using: &generator)
      guard end - start < 144 else { continue }
      let (counts, real) = try Self.places(seed + 5_000, partial: age, start..<end)
      for (index, guess) in guesses.enumerated() where guess.1(counts) == real {
        found[index] += 1 / Double(counts[real, default: 1])
      }
    }
    for (guess, found) in zip(guesses, found) {
      let part = found / Double(count)
      #expect(part < 0.04, "\(guess.0): \(part)")
    }
  }
}
