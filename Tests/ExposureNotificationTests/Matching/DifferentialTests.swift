// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

struct DifferentialTests {
  private static let worldsPerCase: UInt64 = 250

  @Test(
    "The matcher and the naive matcher find the same in 10,000 random worlds", arguments: 0..<40)
  func naive(block: UInt64) throws {
    var worldsWithMatches = 0
    var fullGroups = 0
    for seed in block * Self.worldsPerCase..<(block + 1) * Self.worldsPerCase {
      let world = try RandomWorld(seed: seed, keyCount: seed % 25 == 0 ? 120 : 4)
      let expected = NaiveMatcher(sightings: world.sightings).matches(of: world.keys)
      worldsWithMatches += expected.isEmpty ? 0 : 1
      let tiers = MatchTier.available
      let tier = tiers[Int(seed) % tiers.count]
      for direction in MatchDirection.allCases {
        let index = ContactIndex(world.sightings, secret: .ofTests)
        let result = Matcher(index, tier: tier, direction: direction)
          .search(KeyBatch(world.keys))
        fullGroups += Self.hasFullGroup(world.keys, index) ? 1 : 0
        #expect(
          result.matches.map { NaiveMatch($0.decrypted) } == expected,
          "seed \(seed), \(tier), \(direction)")
      }
    }
    // Both kinds of worlds must occur.
    #expect(worldsWithMatches > Int(Self.worldsPerCase) / 4)
    #expect(worldsWithMatches < Int(Self.worldsPerCase))
    #expect(fullGroups > 0)
  }

  /// True if the kernels get more keys at once than the widest of them processes in parallel.
  private static func hasFullGroup(_ keys: [DiagnosisKey], _ index: ContactIndex) -> Bool {
    let scratch = MatchScratch(capacity: keys.count, groupCount: index.searchIntervals.groupCount)
    let runs = scratch.sort(KeyBatch(keys).rows[...], by: index.searchIntervals)
    return runs.contains { $0.indices.count > keysTogether }
  }

  private static let keysTogether = 16

  @Test("All tiers, directions, thread counts and sources give the same matches", arguments: 0..<4)
  func everywhere(seed: UInt64) throws {
    let world = try RandomWorld(seed: seed + 20_000, keyCount: 200, bases: [2_642_976])
    let keys = world.keys.sorted(by: DiagnosisKey.inFileOrder)
    let expected = NaiveMatcher(sightings: world.sightings).matches(of: keys)
    #expect(!expected.isEmpty)
    let authority = try Authority()
    let zip = try authority.publish(keys)
    let export = try authority.unzipped(zip)
    for tier in MatchTier.available {
      for direction in MatchDirection.allCases {
        let matcher = Matcher(
          ContactIndex(world.sightings, secret: .ofTests), tier: tier, direction: direction)
        for threads in 1...3 {
          for source in [.memory, .verified(zip), .verified(export), .scanned(export)] as [Source] {
            var search = KeySearch(matcher, threads: threads)
            var found = CollectedMatches()
            try search.run(into: &found) { each in
              try source.read(keys, authority, batchSize: [16, 64, 200][threads - 1], each)
            }
            #expect(found.matches == expected, "\(tier), \(direction), \(threads), \(seed)")
            #expect(search.counters.keys == keys.count)
          }
        }
      }
    }
  }
}

/// A source of keys.
private enum Source {
  case memory
  case verified(URL)
  case scanned(URL)

  func read(
    _ keys: [DiagnosisKey], _ authority: Authority, batchSize: Int,
    _ each: (ProvisionalKeyBatch) throws -> Void
  ) throws {
    switch self {
    case .memory:
      for start in stride(from: 0, to: keys.count, by: batchSize) {
        try each(ProvisionalKeyBatch(keys: KeyBatch(keys[start...].prefix(batchSize))))
      }
    case .verified(let file):
      _ = try UnverifiedKeyFile(at: file).verified(
        by: authority.verificationKeys, batchSize: batchSize, each: each)
    case .scanned(let file):
      _ = try UnverifiedKeyFile(at: file).scannedKeys(batchSize: batchSize, each: each)
    }
  }
}

/// Collects all matches in the order in which they are found.
private struct CollectedMatches: MatchCollector {
  var matches: [NaiveMatch] = []

  mutating func add(_ result: BatchResult) {
    matches += result.matches.map { NaiveMatch($0.decrypted) }
  }
}

/// A few random keys and sightings, with many edge cases.
struct RandomWorld {
  private(set) var keys: [DiagnosisKey] = []
  private(set) var sightings: [ScannedSighting] = []
  private var dice: SeededGenerator

  /// A world with up to `keyCount` keys and about as many received beacons.
  ///
  /// They are near one of `bases`, some of which are at the limits of interval numbers.
  init(
    seed: UInt64, keyCount: Int = 4,
    bases: [UInt32] = [0, 2_642_976, 2_642_976, 2_642_976, .max - 300]
  ) throws {
    dice = SeededGenerator(seed: seed)
    let base = try required(bases.randomElement(using: &dice))
    for _ in 0..<number(1...keyCount) { keys.append(try key(near: base)) }
    for _ in 0..<number(0...2) { try addRepeatedKey() }
    for _ in 0..<number(0...keyCount) {
      addSightings(of: try required(keys.randomElement(using: &dice)).key)
    }
    for _ in 0..<number(0...3) { try addUnknownBeacon(near: base) }
    for _ in 0..<number(0...2) { try addReplay() }
    sightings.shuffle(using: &dice)
  }

  private mutating func number<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number {
    .random(in: range, using: &dice)
  }

  private mutating func bytes() -> [UInt8] { (0..<16).map { _ in number(0...255) } }

  /// A key with any period, on one of three days, starting at midnight or not.
  private mutating func key(near base: UInt32) throws -> DiagnosisKey {
    let periods: [UInt32] = [1, 2, 143, 144, number(1...144)]
    let period = try required(periods.randomElement(using: &dice))
    let offset: UInt32 = 144 * number(0...2) + (number(0...1) == 0 ? 0 : number(0...143))
    let start = UInt32(min(UInt64(base) + UInt64(offset), UInt64(UInt32.max - period)))
    let key = TemporaryExposureKey(
      bytes: bytes(), rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
    return try required(
      DiagnosisKey(key: try required(key), transmissionRiskLevel: number(0...8)))
  }

  /// Adds the same key again, or the same bytes with another start and period.
  private mutating func addRepeatedKey() throws {
    let known = try required(keys.randomElement(using: &dice))
    let start = known.key.rollingStart.rawValue
    let earlier = start - min(start, number(0...20))
    let other = TemporaryExposureKey(
      bytes: known.key.secretBytes, rollingStart: IntervalNumber(rawValue: earlier),
      rollingPeriod: min(number(1...144), .max - earlier))
    keys.append(
      try required(DiagnosisKey(key: number(0...1) == 0 ? known.key : try required(other))))
  }

  /// Adds sightings of the key, within its period or just outside, also at the limits of the tolerance.
  private mutating func addSightings(of key: TemporaryExposureKey) {
    let (first, last) = (key.rollingStart.rawValue, key.rollingEnd.rawValue - 1)
    let sents: [UInt32] = [first, last, first - min(first, 1), last + 1, number(first...last)]
    let sent = sents.randomElement(using: &dice) ?? first
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: IntervalNumber(rawValue: sent))
    let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
    for _ in 0..<number(1...3) {
      let distances: [Int] = [-13, -12, 0, 12, 13, number(-20...20)]
      let seconds: [TimeInterval] = [0, 599, 599.9]
      let distance = distances.randomElement(using: &dice) ?? 0
      let second = seconds.randomElement(using: &dice) ?? 0
      add(
        Advertisement(identifier: identifier, metadata: metadata),
        at: Double(Int(sent) + distance) * 600 + second)
    }
  }

  private mutating func addUnknownBeacon(near base: UInt32) throws {
    let advertisement = Advertisement(
      identifier: try required(RollingProximityIdentifier(bytes: bytes())),
      metadata: try required(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4])))
    let distance: Int = number(-500...500)
    add(advertisement, at: Double(Int(base) + distance) * 600)
  }

  /// Adds a known beacon at another time.
  private mutating func addReplay() throws {
    guard let known = sightings.randomElement(using: &dice)?.sighting else { return }
    let distance: Int = number(-90_000...90_000)
    add(known.advertisement, at: known.time.timeIntervalSince1970 + Double(distance))
  }

  private mutating func add(_ advertisement: Advertisement, at second: TimeInterval) {
    sightings.append(
      ScannedSighting(
        Sighting(
          advertisement: advertisement, time: Date(timeIntervalSince1970: second),
          signalStrength: number(-90 ... -30))))
  }
}
