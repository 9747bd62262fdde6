// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Testing

@testable import ExposureNotification

struct RepublishedKeyTests {
  private static let receivedSteps: Range<UInt32> = 60..<72
  private static let forgedSteps: Range<UInt32> = 60..<64
  private static let sightingsPerStep = 5

  private let sightings: [ScannedSighting]
  private let keys: [DiagnosisKey]

  /// Twelve intervals with five sightings each; those of the first four are forged. Later periods end
  /// later, so periods with forged beacons only come first.
  init() throws {
    let user = try BeaconSender()
    let forged = BluetoothMetadata(transmitPower: 100)
    sightings = ScannedSighting.inOrder(
      Self.receivedSteps.flatMap { step in
        (0..<Self.sightingsPerStep).map { number in
          user.sighting(
            step: step, after: Double(60 * number),
            metadata: Self.forgedSteps.contains(step) ? forged : nil)
        }
      })
    keys = try (UInt32(60)...75).flatMap { last in
      try stride(from: UInt32(0), through: 60, by: 5).map { first in
        try BeaconSender(start: BeaconSender.midnight.rawValue + first, period: last - first + 1)
          .key
      }
    }
  }

  private var matcher: Matcher { Matcher(ContactIndex(sightings, secret: .ofTests)) }
  private var expected: [NaiveMatch] { NaiveMatcher(sightings: sightings).matches(of: keys) }

  private func found<Collector: MatchCollector>(
    _ collector: Collector, batchSize: Int, threads: Int
  ) throws -> Collector {
    var (search, collector) = (KeySearch(matcher, threads: threads), collector)
    try search.run(into: &collector) { each in
      for start in stride(from: 0, to: keys.count, by: batchSize) {
        try each(ProvisionalKeyBatch(keys: KeyBatch(keys[start...].prefix(batchSize))))
      }
    }
    return collector
  }

  @Test("In one batch every period matches its own intervals, and the sightings are stored once")
  func oneBatch() {
    let result = matcher.search(KeyBatch(keys))
    #expect(result.matches.map { NaiveMatch($0.decrypted) } == expected)
    #expect(result.matches.count == keys.count)
    #expect(Set(result.matches.map { ObjectIdentifier($0.matchedIntervals) }).count == 1)
    #expect(result.counters.hits == result.matches.reduce(0) { $0 + $1.intervals.count })
    #expect(result.counters.hits == expected.reduce(0) { $0 + $1.intervals.count })
  }

  @Test(
    "Raw matches contain each sighting once, with the first period that matches it",
    arguments: [(16, 1), (16, 3), (50, 2), (208, 1)])
  func raw(batchSize: Int, threads: Int) throws {
    let raw = try found(RawMatches(), batchSize: batchSize, threads: threads)
    var known: Set<IntervalNumber> = []
    var first: [NaiveMatch] = []
    for match in expected {
      let new = match.restricted { !known.contains($0) }
      known.formUnion(new.intervals)
      if !new.intervals.isEmpty { first.append(new) }
    }
    let grouped = Dictionary(grouping: raw.inOrder, by: \.key)
    #expect(first.count == Self.receivedSteps.count)
    #expect(grouped.count == first.count)
    for match in first {
      let sightings = (grouped[match.key.key] ?? []).map(\.sighting)
      #expect(NaiveMatch(key: match.key, sightings: sightings) == match)
    }
    #expect(raw.sightingCount == sightings.count)
    #expect((raw.keyCount, raw.identifierCount) == (1, Self.receivedSteps.count))
  }

  @Test(
    "The ledger keeps the first period with a credible beacon and decrypts no beacon twice",
    arguments: [(16, 1), (16, 3), (50, 2), (208, 1)])
  func ledger(batchSize: Int, threads: Int) throws {
    let ledger = try found(MatchLedger(), batchSize: batchSize, threads: threads)
    let first = try required(
      keys.lazy.compactMap { key in
        NaiveMatcher(sightings: sightings).match(of: key)?.credible
      }.first)
    #expect(ledger.matches == [first])
    #expect(first.sightings.count == Self.sightingsPerStep)
    #expect(ledger.decryptedSightingCount == (Self.forgedSteps.count + 1) * Self.sightingsPerStep)
  }
}

extension NaiveMatch {
  fileprivate var intervals: Set<IntervalNumber> { Set(sightings.map(\.sentIn)) }

  fileprivate func restricted(to isIncluded: (IntervalNumber) -> Bool) -> NaiveMatch {
    NaiveMatch(key: key, sightings: sightings.filter { isIncluded($0.sentIn) })
  }
}

extension NaiveMatcher {
  fileprivate func match(of key: DiagnosisKey) -> KeyMatch? {
    matches(of: [key]).first.map { KeyMatch(key: key, sightings: $0.sightings) }
  }
}
