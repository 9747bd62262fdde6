// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

@Suite("Properties of version 1 scoring")
struct ScoringV1PropertyTests {
  private static let seeds = 1...40
  private static let now = BeaconSender.midnight.date.addingTimeInterval(3 * 86_400)

  /// Random tables; with `ascending`, nearer, later and longer exposures have higher values.
  private func configuration(
    _ random: inout RandomWindows, ascending: Bool = false
  ) -> ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    let tables: [ReferenceWritableKeyPath<ENExposureConfiguration, [NSNumber]>] = [
      \.attenuationLevelValues, \.daysSinceLastExposureLevelValues, \.durationLevelValues,
      \.transmissionRiskLevelValues,
    ]
    for table in tables {
      let values = random.table()
      configuration[keyPath: table] = (ascending ? values.sorted() : values)
        .map(NSNumber.init(value:))
    }
    return configuration
  }

  /// Matches of five users.
  private func matches(_ random: inout RandomWindows) throws -> [KeyMatch] {
    try (1...5).map { number in
      let user = try BeaconSender(UInt8(number), risk: UInt8(random.number(in: 0...8)))
      let start = Double(random.number(in: 0...60_000))
      let stay = user.stay(
        from: start, scans: random.number(in: 1...10), attenuation: random.number(in: 0...90))
      return try required(Matcher(stay).match(of: user.key)?.credible)
    }
  }

  @Test("A score is between 0 and 4,096, and its capped form at most 255", arguments: seeds)
  func bounds(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try ExposureScoringV1(configuration(&random))
    for incident in scoring.result(of: try matches(&random), now: Self.now).incidents {
      #expect((0...4096).contains(incident.score.fullRange))
      #expect(Int(incident.score.capped) == min(incident.score.fullRange, 255))
      #expect((60...1800).contains(incident.duration) && incident.duration % 60 == 0)
      #expect(incident.attenuationDurations.reduce(0, +) <= incident.duration)
    }
  }

  @Test(
    "With ascending tables, nearer, longer, later and riskier exposures never score less",
    arguments: seeds)
  func monotone(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try ExposureScoringV1(configuration(&random, ascending: true))
    let (decibels, minutes) = (random.number(in: 1...255), random.number(in: 0...40))
    let (days, level) = (random.number(in: 1...20), random.number(in: 0...6))
    func score(_ decibels: Int, _ minutes: Int, _ days: Int, _ level: Int) -> RiskScore {
      scoring.score(
        attenuation: Attenuation(decibels: UInt8(decibels)), minutes: minutes, daysAgo: days,
        transmissionRiskLevel: UInt8(level))
    }
    let base = score(decibels, minutes, days, level)
    #expect(score(decibels - 1, minutes, days, level) >= base)
    #expect(score(decibels, minutes + 1, days, level) >= base)
    #expect(score(decibels, minutes, days - 1, level) >= base)
    #expect(score(decibels, minutes, days, level + 1) >= base)
  }

  @Test("The order of keys does not change the totals", arguments: seeds)
  func order(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try ExposureScoringV1(configuration(&random))
    let matches = try matches(&random)
    #expect(
      scoring.result(of: matches, now: Self.now).found
        == scoring.result(of: matches.shuffled(using: &random.dice), now: Self.now).found)
  }

  @Test("Sums of disjoint keys add up, and the maximum is the greater one", arguments: seeds)
  func additive(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let scoring = try ExposureScoringV1(configuration(&random))
    let matches = try matches(&random)
    let parts = [matches.prefix(2), matches.dropFirst(2)].map {
      scoring.result(of: Array($0), now: Self.now).found
    }
    let whole = scoring.result(of: matches, now: Self.now).found
    #expect(whole.matchedKeyCount == parts.map(\.matchedKeyCount).reduce(0, +))
    #expect(whole.scoreSumFullRange == parts.map(\.scoreSumFullRange).reduce(0, +))
    #expect(whole.maximumScore == parts.map(\.maximumScore).max())
    #expect(
      whole.attenuationDurations
        == zip(parts[0].attenuationDurations, parts[1].attenuationDurations).map { $0 + $1 })
  }

  @Test("A table of zeros makes every score zero", arguments: seeds)
  func zero(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let tables: [ReferenceWritableKeyPath<ENExposureConfiguration, [NSNumber]>] = [
      \.attenuationLevelValues, \.daysSinceLastExposureLevelValues, \.durationLevelValues,
      \.transmissionRiskLevelValues,
    ]
    for table in tables {
      let configuration = configuration(&random)
      configuration[keyPath: table] = [0, 0, 0, 0, 0, 0, 0, 0]
      let found = try ExposureScoringV1(configuration).result(of: matches(&random), now: Self.now)
        .found
      #expect(found.scoreSumFullRange == 0 && found.maximumScore.fullRange == 0)
    }
  }

  @Test("A minimum score excludes exposures below it, but their keys count", arguments: seeds)
  func minimum(seed: Int) throws {
    var random = RandomWindows(seed: seed)
    let configuration = configuration(&random)
    let matches = try matches(&random)
    let all = try ExposureScoringV1(configuration).result(of: matches, now: Self.now)
    let minimum = random.number(in: 0...4096)
    configuration.minimumRiskScoreFullRange = Double(minimum)
    let some = try ExposureScoringV1(configuration).result(of: matches, now: Self.now)
    #expect(some.incidents == all.incidents.filter { $0.score.fullRange >= minimum })
    #expect(some.found.matchedKeyCount == all.found.matchedKeyCount)
    #expect(some.found.daysSinceLastExposure == all.found.daysSinceLastExposure)
  }
}
