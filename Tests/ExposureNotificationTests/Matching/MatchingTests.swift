import ExposureKeys
import Foundation
import Testing
import TestSupport

@testable import ExposureNotification

/// Documentation/RiskScoring.md 1.
struct MatchingTests {
  @Test("A published key explains the beacon of the Cryptography Specification's vectors")
  func publishedVector() throws {
    let key = try required(
      TemporaryExposureKey(
        bytes: Self.bytes("75c734c6dd1a782de7a965da5eb93125"), rollingStart: Stranger.midnight))
    let advertisement = Advertisement(
      identifier: try required(
        RollingProximityIdentifier(bytes: Self.bytes("3c9a1de5dd6b02afa7fded7b570b3e56"))),
      metadata: try required(AssociatedEncryptedMetadata(bytes: Self.bytes("c29211b1"))))
    let heard = Sighting(
      advertisement: advertisement, time: Stranger.midnight.date.addingTimeInterval(700),
      signalStrength: -60)
    let match = try required(Matcher([heard]).match(of: try required(DiagnosisKey(key: key))))
    #expect(match.sightings.map(\.sentIn.rawValue) == [2_642_977])
    #expect(match.sightings.map(\.metadata.bytes) == [[0x40, 8, 0, 0]])
    #expect(match.sightings.map(\.attenuation.decibels) == [68])
  }

  @Test(
    "A beacon counts up to twelve intervals before or after its own",
    arguments: [(-13, false), (-12, true), (0, true), (12, true), (13, false)])
  func tolerance(intervals: Int, isFound: Bool) throws {
    let stranger = try Stranger()
    for second in [0.0, 599] {
      let heard = stranger.heard(step: 20, after: Double(intervals) * 600 + second)
      #expect((Matcher([heard]).match(of: stranger.key) != nil) == isFound)
    }
  }

  @Test(
    "Only identifiers of the declared period count",
    arguments: [(UInt32(0), true), (9, true), (10, false), (143, false)])
  func period(step: UInt32, isFound: Bool) throws {
    let whole = try Stranger()
    let short = try Stranger(period: 10)
    #expect((Matcher([whole.heard(step: step)]).match(of: short.key) != nil) == isFound)
  }

  @Test("Keys of hours in which nothing was heard are not even derived")
  func filter() throws {
    let index = ContactIndex(ScannedSighting.inOrder([try Stranger().heard(step: 50)]))
    let start = Stranger.midnight.rawValue
    #expect(index.intervals(of: try Stranger().key.key) == [start + 38...start + 62])
    #expect(
      index.intervals(of: try Stranger(start: start + 62).key.key) == [start + 62...start + 62])
    #expect(index.intervals(of: try Stranger(start: start + 63).key.key).isEmpty)
    #expect(index.intervals(of: try Stranger(start: start - 106).key.key).isEmpty)
    #expect(
      index.intervals(of: try Stranger(start: start - 105).key.key) == [start + 38...start + 38])
  }

  @Test("A phone that heard nobody matches nobody, and no keys match nobody")
  func nothing() throws {
    #expect(Matcher([]).matches(of: [try Stranger().key]).isEmpty)
    #expect(Matcher([try Stranger().heard()]).matches(of: []).isEmpty)
  }

  @Test(
    "A transmit power that no phone has is dropped",
    arguments: [(Int8(-51), false), (-50, true), (20, true), (21, false)])
  func transmitPower(power: Int8, isKept: Bool) throws {
    let metadata = BluetoothMetadata(transmitPower: power)
    #expect(PlausibilityRule.isKept(try .at(0, metadata: metadata)) == isKept)
  }

  @Test(
    "Another major version than 1 is dropped",
    arguments: [(UInt8(0x00), false), (0x40, true), (0x50, true), (0x80, false), (0xc0, false)])
  func version(byte: UInt8, isKept: Bool) throws {
    let metadata = try required(BluetoothMetadata(bytes: [byte, 0, 0, 0]))
    #expect(PlausibilityRule.isKept(try .at(0, metadata: metadata)) == isKept)
  }

  @Test("Attenuation never goes below zero, however loud the beacon")
  func attenuation() throws {
    let loud = BluetoothMetadata(transmitPower: -50)
    #expect(try MatchedSighting.at(0, attenuation: -40, metadata: loud).attenuation.decibels == 0)
  }

  @Test("Whom a phone met is nothing that a log could show")
  func silence() throws {
    let heard = try Stranger(9).heard()
    let index = ContactIndex(ScannedSighting.inOrder([heard]))
    var ledger = MatchLedger(Matcher(index))
    ledger.search([try Stranger(9).key])
    for text in ["\(index)", "\(ledger)", String(reflecting: index)] {
      #expect(!text.contains("9, 9"))
    }
    var dumped = ""
    dump(index, to: &dumped)
    dump(ledger, to: &dumped)
    #expect(!dumped.contains("Sighting"))
  }

  @Test("In random worlds the matcher finds what trying everything finds", arguments: 1...12)
  func naive(seed: Int) throws {
    var dice = SeededGenerator(seed: UInt64(seed))
    let start = Stranger.midnight.rawValue
    let strangers = try (1...5).map { number in
      try Stranger(
        UInt8(number), start: start + 100 * UInt32.random(in: 0...3, using: &dice),
        period: UInt32.random(in: 1...144, using: &dice))
    }
    let sightings = strangers.flatMap { stranger in
      (0..<8).map { _ in
        stranger.heard(
          step: UInt32.random(in: 0...160, using: &dice),
          after: Double(Int.random(in: -10_000...10_000, using: &dice)))
      }
    }
    for stranger in strangers {
      let found =
        Matcher(sightings).match(of: stranger.key)?.sightings.map(\.scanned.sighting) ?? []
      let expected = sightings.filter { isExplained($0, by: stranger.key.key) }
      #expect(Set(found) == Set(expected), "seed \(seed)")
      #expect(found.map(\.time) == found.map(\.time).sorted(), "seed \(seed)")
    }
  }

  /// The rule as the specification says it, without any index.
  private func isExplained(_ sighting: Sighting, by key: TemporaryExposureKey) -> Bool {
    let schedule = KeySchedule(key)
    return (key.rollingStart.rawValue..<key.rollingEnd.rawValue).contains { number in
      let heard = Int((sighting.time.timeIntervalSince1970 / 600).rounded(.down))
      return schedule.identifier(at: IntervalNumber(rawValue: number))
        == sighting.advertisement.identifier
        && Int(number) - 12 <= heard && heard < Int(number) + 12 + 1
    }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
      UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
    }
  }
}
