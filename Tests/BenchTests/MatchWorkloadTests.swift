// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Terminal
import TestSupport
import Testing

@testable import Bench

@Suite("Workload of bench match")
struct MatchWorkloadTests {
  private static let small = MatchWorkload(keys: 30_000, sightings: 900, seed: 7)

  @Test("Keys start evenly over 14 days, are valid for a day and are in file order")
  func keys() throws {
    let keys = (0..<1_400).compactMap(Self.small.key)
    try #require(keys.count == 1_400)
    let days = Dictionary(grouping: keys) { $0.key.rollingStart }.mapValues(\.count)
    #expect(days.count == 14 && days.values.allSatisfy { $0 == 100 })
    #expect(keys.allSatisfy { $0.key.rollingPeriod == 144 })
    #expect(zip(keys, keys.dropFirst()).allSatisfy(DiagnosisKey.inFileOrder))
    let start = (0..<14).map(Self.small.day)
    #expect(start != start.sorted(), "keys are not grouped by day")
  }

  @Test("The seed determines the workload")
  func seeds() {
    let again = MatchWorkload(keys: 30_000, sightings: 900, seed: 7)
    let other = MatchWorkload(keys: 30_000, sightings: 900, seed: 8)
    #expect(again.key(17) == Self.small.key(17) && again.sighting(17) == Self.small.sighting(17))
    #expect(other.key(17) != Self.small.key(17) && other.sighting(17) != Self.small.sighting(17))
  }

  @Test("Sightings are distinct, ordered by time and spread evenly over the days")
  func sightings() {
    let sightings = Array(Self.small.sightings)
    #expect(Set(sightings.map(\.advertisement.identifier)).count == 900)
    #expect(zip(sightings, sightings.dropFirst()).allSatisfy { $0.time <= $1.time })
    let days = Dictionary(grouping: sightings) {
      Int($0.time.timeIntervalSince1970) / 86_400 - Int(MatchWorkload.firstInterval) / 144
    }.mapValues(\.count)
    #expect(days.keys.sorted() == Array(0..<14))
    #expect(days.values.allSatisfy { (63...66).contains($0) })
  }

  @Test(
    "One key in 10,000 has a sighting, at least one, within its period and two hours",
    arguments: [(30_000, 900, 3), (29_999, 7, 2), (20_000, 2, 2), (1, 1, 1), (13, 5, 1)])
  func planted(keys: Int, sightings: Int, expected: Int) throws {
    let workload = MatchWorkload(keys: keys, sightings: sightings, seed: 3)
    let planted = (0..<sightings).compactMap { number in
      workload.plantedKey(ofSighting: number).map { (number, $0) }
    }
    #expect(planted.count == expected && workload.plantedMatches.count == expected)
    #expect(Set(planted.map(\.1)).count == expected)
    for (number, key) in planted {
      let (key, sighting) = (try #require(workload.key(key)?.key), workload.sighting(number))
      let schedule = KeySchedule(key)
      let sent = (0..<144).map { IntervalNumber(rawValue: key.rollingStart.rawValue + $0) }
        .first { schedule.identifier(at: $0) == sighting.advertisement.identifier }
      let interval = try #require(IntervalNumber(sighting.time))
      #expect(try #require(sent).distance(to: interval) <= 12)
    }
  }

  @Test("A file has 500,000 keys, the last one the rest")
  func files() {
    #expect(MatchWorkload(keys: 499_999, sightings: 99, seed: 1).files == [0..<499_999])
    #expect(MatchWorkload(keys: 500_000, sightings: 99, seed: 1).files == [0..<500_000])
    #expect(
      MatchWorkload(keys: 500_001, sightings: 99, seed: 1).files == [
        0..<500_000, 500_000..<500_001,
      ])
  }

  @Test("Missing, surplus and repeated matches are rejected")
  func check() throws {
    var result = MatchResult()
    result.keysRead = 30_000
    result.found = Self.small.plantedMatches
    result.count = 3
    try result.check(against: Self.small)
    result.count = 4
    #expect(throws: CommandFailure.self) { try result.check(against: Self.small) }
    result.count = 3
    result.keysRead = 29_999
    #expect(throws: CommandFailure.self) { try result.check(against: Self.small) }
    result.keysRead = 30_000
    result.found.remove(try #require(result.found.first))
    result.count = 2
    #expect(throws: CommandFailure.self) { try result.check(against: Self.small) }
  }
}
