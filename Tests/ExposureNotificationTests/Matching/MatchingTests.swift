import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Testing

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
    let start = Stranger.midnight.rawValue
    let reach = Reach(of: [start + 50])
    func span(_ first: UInt32) -> ClosedRange<UInt32>? {
      reach.span(first, first + 143).map { $0.first...$0.last }
    }
    #expect(span(start) == start + 38...start + 62)
    #expect(span(start + 62) == start + 62...start + 62)
    #expect(span(start + 63) == nil)
    #expect(span(start - 106) == nil)
    #expect(span(start - 105) == start + 38...start + 38)
    let heard = Matcher([try Stranger().heard(step: 50)])
    let findings = heard.findings(
      in: KeyBatch([try Stranger().key, try Stranger(start: start + 63).key]))
    #expect(findings.counters.keysSkipped == 1)
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
    let index = ContactIndex(ScannedSighting.inOrder([heard]), secret: .ofTests)
    var filled = FilledLedger(Matcher(index))
    filled.search([try Stranger(9).key])
    let ledger = filled.ledger
    for text in ["\(index)", "\(ledger)", String(reflecting: index)] {
      #expect(!text.contains("9, 9"))
    }
    var dumped = ""
    dump(index, to: &dumped)
    dump(ledger, to: &dumped)
    #expect(!dumped.contains("Sighting"))
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
      UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
    }
  }
}
