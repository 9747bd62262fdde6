// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import Testing
import TextEncodings

@testable import ExposureNotification

struct MatcherTests {
  @Test("The key of the Cryptography Specification's test vectors matches their beacon")
  func publishedVector() throws {
    let key = try required(
      TemporaryExposureKey(
        bytes: Self.bytes("75c734c6dd1a782de7a965da5eb93125"), rollingStart: BeaconSender.midnight)
    )
    let advertisement = Advertisement(
      identifier: try required(
        RollingProximityIdentifier(bytes: Self.bytes("3c9a1de5dd6b02afa7fded7b570b3e56"))),
      metadata: try required(AssociatedEncryptedMetadata(bytes: Self.bytes("c29211b1"))))
    let received = Sighting(
      advertisement: advertisement, time: BeaconSender.midnight.date.addingTimeInterval(700),
      signalStrength: -60)
    let match = try required(Matcher([received]).match(of: try required(DiagnosisKey(key: key))))
    #expect(match.sightings.map(\.sentIn.rawValue) == [2_642_977])
    #expect(match.sightings.map(\.metadata.bytes) == [[0x40, 8, 0, 0]])
    #expect(match.sightings.map(\.attenuation.decibels) == [68])
  }

  @Test(
    "A beacon matches up to 12 intervals before or after its own",
    arguments: [(-13, false), (-12, true), (0, true), (12, true), (13, false)])
  func tolerance(intervals: Int, isFound: Bool) throws {
    let user = try BeaconSender()
    for second in [0.0, 599] {
      let received = user.sighting(step: 20, after: Double(intervals) * 600 + second)
      #expect((Matcher([received]).match(of: user.key) != nil) == isFound)
    }
  }

  @Test(
    "Only identifiers of the declared period match",
    arguments: [(UInt32(0), true), (9, true), (10, false), (143, false)])
  func period(step: UInt32, isFound: Bool) throws {
    let whole = try BeaconSender()
    let short = try BeaconSender(period: 10)
    #expect((Matcher([whole.sighting(step: step)]).match(of: short.key) != nil) == isFound)
  }

  @Test("Keys of hours without a sighting are skipped before derivation")
  func filter() throws {
    let start = BeaconSender.midnight.rawValue
    let intervals = SearchIntervals(of: [start + 50])
    func span(_ first: UInt32) -> ClosedRange<UInt32>? {
      intervals.span(first, first + 143).map { $0.first...$0.last }
    }
    #expect(span(start) == start + 38...start + 62)
    #expect(span(start + 62) == start + 62...start + 62)
    #expect(span(start + 63) == nil)
    #expect(span(start - 106) == nil)
    #expect(span(start - 105) == start + 38...start + 38)
    let received = Matcher([try BeaconSender().sighting(step: 50)])
    let result = received.search(
      KeyBatch([try BeaconSender().key, try BeaconSender(start: start + 63).key]))
    #expect(result.counters.keysSkipped == 1)
  }

  @Test("Nothing matches without sightings or without keys")
  func nothing() throws {
    #expect(Matcher([]).matches(of: [try BeaconSender().key]).isEmpty)
    #expect(Matcher([try BeaconSender().sighting()]).matches(of: []).isEmpty)
  }

  @Test("Descriptions and dumps of index and ledger contain no keys or sightings")
  func silence() throws {
    let received = try BeaconSender(9).sighting()
    let index = ContactIndex(ScannedSighting.inOrder([received]), secret: .ofTests)
    var filled = LedgerSearch(Matcher(index))
    filled.search([try BeaconSender(9).key])
    let ledger = filled.ledger
    for text in ["\(index)", "\(ledger)", String(reflecting: index)] {
      #expect(!text.contains("9, 9"))
    }
    var dumped = ""
    dump(index, to: &dumped)
    dump(ledger, to: &dumped)
    #expect(!dumped.contains("Sighting"))
  }

  @Test(
    "A filter has 64 to 128 bits per identifier, from 64 bytes to 1 MiB",
    arguments: [
      (0, 4), (1, 4), (8, 4), (9, 5), (1_428, 12), (20_000, 16), (131_071, 18), (131_072, 18),
      (131_073, 18), (1_000_000, 18),
    ])
  func filterSize(identifiers: Int, log2: Int) {
    #expect(ProbeFilter.wordsLog2(for: identifiers) == log2)
  }

  @Test("Every size of the filter finds the same matches", arguments: [4, 10, 18, 22])
  func filterSizes(log2: Int) throws {
    let users = try (1...3).map { try BeaconSender(UInt8($0)) }
    let others = try (4...200).map { try BeaconSender(UInt8($0)).key }
    let sightings = users.map { $0.sighting(step: 9) }
    let index = ContactIndex(ScannedSighting.inOrder(sightings), secret: .ofTests)
    let matcher = Matcher(index, direction: .forward, filterWordsLog2: log2)
    let result = matcher.search(KeyBatch(users.map(\.key) + others))
    #expect(result.matches.map(\.key) == users.map(\.key))
  }

  @Test("The limits satisfy the minimum and maximum sizes of the kernels")
  func room() {
    #expect(MatchLimit.candidates >= Int(EK_CANDIDATES_MIN))
    #expect(KeyFileLimit.batchSizes.contains(MatchLimit.keysPerBatch))
    #expect(MatchLimit.filterWordsLog2.upperBound <= Int(EK_FILTER_LOG2_MAX))
  }

  @Test("A batch larger than the scratch is searched completely")
  func largeBatch() throws {
    let user = try BeaconSender(255)
    let others = [try BeaconSender(3).key, try BeaconSender(4, start: 9).key]
    let keys = (0..<2 * MatchLimit.keysPerBatch + 1).map { others[$0 % 2] } + [user.key]
    let result = Matcher([user.sighting(step: 9)]).search(KeyBatch(keys))
    #expect(result.matches.map(\.key) == [user.key])
    #expect(result.counters.keys == keys.count)
    #expect(result.counters.keysSkipped == MatchLimit.keysPerBatch)
  }

  @Test(
    "Batches are larger against more than 100,000 sightings",
    arguments: [(100_000, 8_192), (100_001, 65_536)])
  func batchSize(sightings: Int, keys: Int) {
    #expect(MatchLimit.keysPerBatch(against: sightings) == keys)
    #expect(KeyFileLimit.batchSizes.contains(keys))
  }

  @Test("Against many sightings, large batches find what small ones find")
  func manySightings() throws {
    let users = try (1...3).map { try BeaconSender(UInt8($0)) }
    let strangers = try (0..<UInt64(MatchLimit.manySightings)).map { number in
      let bytes =
        withUnsafeBytes(of: number.littleEndian, Array.init) + [UInt8](repeating: 7, count: 8)
      return Sighting(
        advertisement: Advertisement(
          identifier: try required(RollingProximityIdentifier(bytes: bytes)),
          metadata: try required(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4]))),
        time: BeaconSender.midnight.date.addingTimeInterval(6_000), signalStrength: -60)
    }
    let index = ContactIndex(
      ScannedSighting.inOrder(strangers + users.map { $0.sighting(step: 9, after: 600) }),
      secret: .ofTests)
    let matcher = Matcher(index, direction: .forward)
    #expect(matcher.keysPerBatch == MatchLimit.keysPerLargeBatch)
    let other = try BeaconSender(4).key
    let keys = (0..<2 * MatchLimit.keysPerBatch).map { _ in other } + users.map(\.key)
    let batch = KeyBatch(keys)
    let large = matcher.search(batch)
    let small = matcher.search(
      batch,
      with: MatchScratch(
        capacity: MatchLimit.keysPerBatch, groupCount: index.searchIntervals.groupCount))
    #expect(large.matches.map(\.key) == users.map(\.key))
    #expect(small.matches.map(\.key) == users.map(\.key))
    #expect(large.counters == small.counters)
  }

  @Test("A repeated key is found each time, and its sightings are stored once")
  func duplicates() throws {
    let user = try BeaconSender()
    let received = (0..<30).map { user.sighting(after: Double($0)) }
    let keys = [try BeaconSender(2).key] + (0..<1_000).map { _ in user.key }
    let result = Matcher(received).search(KeyBatch(keys))
    #expect(result.matches.count == 1_000)
    #expect(result.matches.allSatisfy { $0.decrypted.sightings.count == 30 })
    #expect(Set(result.matches.map { ObjectIdentifier($0.matchedIntervals) }).count == 1)
    var (ledger, raw) = (MatchLedger(), RawMatches())
    for _ in 0..<3 {
      ledger.add(result)
      raw.add(result)
    }
    #expect((ledger.decryptedSightingCount, raw.sightingCount) == (30, 30))
  }

  private static func bytes(_ hex: String) -> [UInt8] { [UInt8](hexadecimal: hex) ?? [] }
}
