import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import firebreak

/// Documentation/Performance.md 2.
@Suite("The workload of bench match")
struct MatchWorkloadTests {
  private static let small = MatchWorkload(keys: 30_000, sightings: 900, seed: 7)

  @Test("Keys start evenly over fourteen days and serve a whole one, in the order of a key file")
  func keys() throws {
    let keys = (0..<1_400).compactMap(Self.small.key)
    try #require(keys.count == 1_400)
    let days = Dictionary(grouping: keys) { $0.key.rollingStart }.mapValues(\.count)
    #expect(days.count == 14 && days.values.allSatisfy { $0 == 100 })
    #expect(keys.allSatisfy { $0.key.rollingPeriod == 144 })
    #expect(zip(keys, keys.dropFirst()).allSatisfy(DiagnosisKey.inFileOrder))
    let start = (0..<14).map(Self.small.day)
    #expect(start != start.sorted(), "a phone does not get its keys by the day")
  }

  @Test("The same seed is the same workload, another seed is another")
  func seeds() {
    let again = MatchWorkload(keys: 30_000, sightings: 900, seed: 7)
    let other = MatchWorkload(keys: 30_000, sightings: 900, seed: 8)
    #expect(again.key(17) == Self.small.key(17) && again.sighting(17) == Self.small.sighting(17))
    #expect(other.key(17) != Self.small.key(17) && other.sighting(17) != Self.small.sighting(17))
  }

  @Test("Sightings are distinct, in the order of time and even over the same days")
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
    "One key in ten thousand was heard, and one at least, in its period and within two hours",
    arguments: [(30_000, 900, 3), (29_999, 7, 2), (20_000, 2, 2), (1, 1, 1), (13, 5, 1)])
  func planted(keys: Int, sightings: Int, expected: Int) throws {
    let workload = MatchWorkload(keys: keys, sightings: sightings, seed: 3)
    let planted = (0..<sightings).compactMap { number in
      workload.plantedKey(ofSighting: number).map { (number, $0) }
    }
    #expect(planted.count == expected && workload.plantedMatches.count == expected)
    #expect(Set(planted.map(\.1)).count == expected)
    for (sighting, key) in planted {
      let (key, heard) = (try #require(workload.key(key)?.key), workload.sighting(sighting))
      let schedule = KeySchedule(key)
      let sent = (0..<144).map { IntervalNumber(rawValue: key.rollingStart.rawValue + $0) }
        .first { schedule.identifier(at: $0) == heard.advertisement.identifier }
      let interval = try #require(IntervalNumber(heard.time))
      #expect(try #require(sent).distance(to: interval) <= 12)
    }
  }

  @Test("A file holds half a million keys, and the last one the rest")
  func files() {
    #expect(MatchWorkload(keys: 499_999, sightings: 99, seed: 1).files == [0..<499_999])
    #expect(MatchWorkload(keys: 500_000, sightings: 99, seed: 1).files == [0..<500_000])
    #expect(
      MatchWorkload(keys: 500_001, sightings: 99, seed: 1).files == [
        0..<500_000, 500_000..<500_001,
      ])
  }

  @Test("Findings with one match too few, one too many or one twice are refused")
  func check() throws {
    var findings = MatchResult()
    findings.keysRead = 30_000
    findings.found = Self.small.plantedMatches
    findings.count = 3
    try findings.check(against: Self.small)
    findings.count = 4
    #expect(throws: CommandFailure.self) { try findings.check(against: Self.small) }
    findings.count = 3
    findings.keysRead = 29_999
    #expect(throws: CommandFailure.self) { try findings.check(against: Self.small) }
    findings.keysRead = 30_000
    findings.found.remove(try #require(findings.found.first))
    findings.count = 2
    #expect(throws: CommandFailure.self) { try findings.check(against: Self.small) }
  }
}
