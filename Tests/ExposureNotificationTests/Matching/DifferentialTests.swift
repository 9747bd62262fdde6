import DiagnosisKeyFile
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Matching.md 1.3: the matcher against one that tries everything.
struct DifferentialTests {
  private static let worldsPerCase: UInt64 = 250

  @Test("In 10,000 random worlds the matcher finds what trying everything finds", arguments: 0..<40)
  func naive(block: UInt64) throws {
    var worldsWithMatches = 0
    var fullGroups = 0
    for seed in block * Self.worldsPerCase..<(block + 1) * Self.worldsPerCase {
      let world = try SmallWorld(seed: seed, keyCount: seed % 25 == 0 ? 120 : 4)
      let expected = NaiveMatcher(sightings: world.sightings).matches(of: world.keys)
      worldsWithMatches += expected.isEmpty ? 0 : 1
      let tiers = MatchTier.available
      let tier = tiers[Int(seed) % tiers.count]
      for direction in MatchDirection.allCases {
        let index = ContactIndex(world.sightings, secret: .ofTests)
        let findings = Matcher(index, tier: tier, direction: direction)
          .findings(in: KeyBatch(world.keys))
        fullGroups += Self.hasFullGroup(world.keys, index) ? 1 : 0
        #expect(
          findings.matches.map { NaiveMatch($0.opened) } == expected,
          "seed \(seed), \(tier), \(direction)")
      }
    }
    // Worlds in which nobody was met would show nothing.
    #expect(worldsWithMatches > Int(Self.worldsPerCase) / 4)
    #expect(worldsWithMatches < Int(Self.worldsPerCase))
    #expect(fullGroups > 0)
  }

  /// Whether the kernels get more keys at once than the widest of them takes together.
  private static func hasFullGroup(_ keys: [DiagnosisKey], _ index: ContactIndex) -> Bool {
    let scratch = MatchScratch(capacity: keys.count, groupCount: index.reach.groupCount)
    let runs = scratch.sort(KeyBatch(keys).rows[...], by: index.reach)
    return runs.contains { $0.places.count > keysTogether }
  }

  private static let keysTogether = 16

  @Test("Every tier, direction, number of threads and source finds the same", arguments: 0..<4)
  func everywhere(seed: UInt64) throws {
    let world = try SmallWorld(seed: seed + 20_000, keyCount: 200, bases: [2_642_976])
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
            var found = EveryMatch()
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

/// Where keys come from.
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

/// Every match, in the order they were found.
private struct EveryMatch: MatchKeeper {
  var matches: [NaiveMatch] = []

  mutating func add(_ findings: BatchFindings) {
    matches += findings.matches.map { NaiveMatch($0.opened) }
  }
}
