// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite("Properties of version 2 scoring")
struct ScoringV2PropertyTests {
  private static let seeds = 1...60
  private static let today = RandomWindows.day.addingTimeInterval(2 * 86_400)

  private func sums(_ days: [DaySummary]) -> [WeightedSeconds] {
    days.flatMap { [$0.total.scoreSum, $0.total.weightedDurationSum, $0.total.maximumScore] }
  }

  @Test("A longer scan never scores less", arguments: seeds)
  func monotone(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    let window = random.window()
    for index in window.scanInstances.indices {
      var longer = window
      let scan = window.scanInstances[index]
      longer.scanInstances[index] = ScanInstance(
        minimumAttenuation: scan.minimumAttenuation, typicalAttenuation: scan.typicalAttenuation,
        secondsSinceLastScan: scan.secondsSinceLastScan + 60)
      #expect(scoring.score(of: longer) >= scoring.score(of: window))
      #expect(scoring.weightedDuration(of: longer) >= scoring.weightedDuration(of: window))
    }
  }

  @Test("A window scores at most its seconds times the highest weights", arguments: seeds)
  func bounds(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    let window = random.window()
    let seconds = window.scanInstances.reduce(0) { $0 + $1.secondsSinceLastScan }
    let duration = scoring.weightedDuration(of: window)
    let limit = Double(seconds) * 2.5
    #expect((0...limit).contains(duration.double))
    #expect((0...limit * 2.5 * 2.5).contains(scoring.score(of: window).double))
  }

  @Test("The order of windows and scans does not change the totals", arguments: seeds)
  func order(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    let windows = random.windows()
    let shuffled = windows.shuffled(using: &random.dice).map { window in
      var window = window
      window.scanInstances.shuffle(using: &random.dice)
      return window
    }
    let (one, other) = (
      scoring.days(of: windows, today: Self.today), scoring.days(of: shuffled, today: Self.today)
    )
    #expect(one.map(\.date) == other.map(\.date))
    #expect(sums(one) == sums(other))
  }

  @Test("Sums of disjoint windows add up, and the maximum is the greater one", arguments: seeds)
  func additive(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    var (some, others) = (random.windows(), random.windows())
    for index in some.indices { some[index].date = RandomWindows.day }
    for index in others.indices { others[index].date = RandomWindows.day }
    let parts = [some, others].map { scoring.days(of: $0, today: Self.today)[0].total }
    let whole = scoring.days(of: some + others, today: Self.today)[0].total
    #expect(whole.scoreSum == parts[0].scoreSum + parts[1].scoreSum)
    #expect(
      whole.weightedDurationSum == parts[0].weightedDurationSum + parts[1].weightedDurationSum)
    #expect(whole.maximumScore == max(parts[0].maximumScore, parts[1].maximumScore))
  }

  @Test("A day has the sum and the maximum over its report types", arguments: seeds)
  func kinds(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    for day in scoring.days(of: random.windows(), today: Self.today) {
      let kinds = Array(day.byReportType.values)
      #expect(day.total.scoreSum == kinds.map(\.scoreSum).reduce(.zero, +))
      #expect(day.total.weightedDurationSum == kinds.map(\.weightedDurationSum).reduce(.zero, +))
      #expect(day.total.maximumScore == kinds.map(\.maximumScore).max())
      #expect(day.total.maximumScore <= day.total.scoreSum)
    }
  }

  @Test("Halving the weights halves the score", arguments: seeds)
  func scaling(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let configuration = random.configuration()
    let window = random.window()
    let whole = try WindowScoring(configuration)
    configuration.immediateDurationWeight /= 2
    configuration.nearDurationWeight /= 2
    configuration.mediumDurationWeight /= 2
    configuration.otherDurationWeight /= 2
    let halved = try WindowScoring(configuration)
    let half = halved.score(of: window)
    #expect(half + half == whole.score(of: window))
    configuration.infectiousnessStandardWeight /= 2
    configuration.infectiousnessHighWeight /= 2
    let quartered = try WindowScoring(configuration)
    let quarter = quartered.score(of: window)
    #expect(quarter + quarter == half)
    #expect(
      quartered.weightedDuration(of: window) == halved.weightedDuration(of: window),
      "infectiousness weighs scores, not durations")
  }

  @Test("A minimum score excludes exactly the windows below it", arguments: seeds)
  func minimum(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let configuration = random.configuration()
    let windows = random.windows()
    let all = try WindowScoring(configuration)
    configuration.minimumRiskScoreFullRange = Double(random.number(in: 0...4096))
    let some = try WindowScoring(configuration)
    let minimum = configuration.minimumRiskScoreFullRange
    let kept = windows.filter { all.score(of: $0).double >= minimum }
    #expect(
      some.days(of: windows, today: Self.today) == all.days(of: kept, today: Self.today))
  }

  @Test("A day threshold excludes exactly the older days", arguments: seeds)
  func age(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let configuration = random.configuration()
    let windows = random.windows()
    let all = try WindowScoring(configuration).days(of: windows, today: Self.today)
    configuration.daysSinceLastExposureThreshold = 1
    let some = try WindowScoring(configuration).days(of: windows, today: Self.today)
    #expect(some == all.filter { $0.date > RandomWindows.day })
  }

  @Test("Reported values differ from the exact ones by less than a minute", arguments: seeds)
  func rounding(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try WindowScoring(random.configuration())
    for sums in scoring.days(of: random.windows(), today: Self.today).map(\.total) {
      #expect(abs(sums.roundedScoreSum - sums.scoreSum.double) <= 30)
      #expect(abs(sums.roundedMaximumScore - sums.maximumScore.double) <= 30)
      let added = sums.roundedWeightedDurationSum - sums.weightedDurationSum.double
      #expect((0..<60).contains(added))
      #expect(sums.roundedScoreSum.truncatingRemainder(dividingBy: 60) == 0)
    }
  }
}

/// Random configurations and windows from a seed.
struct RandomWindows {
  static let day = Date(timeIntervalSince1970: 1_585_785_600)

  var dice: SeededGenerator

  init(seed: Int) {
    dice = SeededGenerator(seed: UInt64(seed))
  }

  /// A valid configuration of version 2.
  mutating func configuration() -> ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    let weights: [ReferenceWritableKeyPath<ENExposureConfiguration, Double>] = [
      \.immediateDurationWeight, \.nearDurationWeight, \.mediumDurationWeight,
      \.otherDurationWeight, \.infectiousnessStandardWeight, \.infectiousnessHighWeight,
      \.reportTypeConfirmedTestWeight, \.reportTypeConfirmedClinicalDiagnosisWeight,
      \.reportTypeSelfReportedWeight, \.reportTypeRecursiveWeight,
    ]
    for weight in weights {
      configuration[keyPath: weight] = Double(Int.random(in: 0...250, &dice))
    }
    let thresholds = (0..<3).map { _ in Int.random(in: 0...255, &dice) }.sorted()
    configuration.attenuationDurationThresholds = thresholds.map(NSNumber.init(value:))
    return configuration
  }

  /// A window of one to ten scans on one of three days.
  mutating func window() -> ExposureWindow {
    var window = ExposureWindow()
    window.date = Self.day.addingTimeInterval(Double(Int.random(in: 0...2, &dice)) * 86_400)
    window.infectiousness = [.standard, .high][Int.random(in: 0...1, &dice)]
    window.diagnosisReportType =
      [.confirmedTest, .confirmedClinicalDiagnosis, .selfReported, .recursive][
        Int.random(in: 0...3, &dice)]
    window.scanInstances = (0...Int.random(in: 0...9, &dice)).map { _ in scan() }
    return window
  }

  mutating func scan() -> ScanInstance {
    let attenuation = UInt8(Int.random(in: 0...255, &dice))
    return ScanInstance(
      minimumAttenuation: attenuation, typicalAttenuation: attenuation,
      secondsSinceLastScan: Int.random(in: 0...5, &dice) * 60)
  }

  mutating func windows() -> [ExposureWindow] {
    (0..<Int.random(in: 1...12, &dice)).map { _ in window() }
  }

  mutating func table() -> [Int] { (0..<8).map { _ in Int.random(in: 0...8, &dice) } }

  mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, &dice) }
}

extension Int {
  fileprivate static func random(in range: ClosedRange<Int>, _ dice: inout SeededGenerator) -> Int {
    random(in: range, using: &dice)
  }
}
