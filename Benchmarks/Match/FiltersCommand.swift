// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import DiagnosisKeyFile
import ExposureNotification
import Foundation
import Terminal
import World

/// `firebreak-benchmarks filters`: compares sizes of the matching filter with the one that the matcher chooses.
struct FiltersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filters",
    abstract: "Compare sizes of the matching filter with the one that the matcher chooses.",
    discussion: """
      The workload is that of firebreak bench match, in memory, on one thread. In each round every size matches all \
      keys once. A ratio is the median over the rounds of the processor time with a size over that with the chosen \
      one. Creating the filters is not measured.
      """)

  /// The sightings that fit into the memory of a small machine: 8 million take about 1 GiB.
  private static let sightingCounts = 1...20_000_000
  private static let roundCounts = 1...99

  @Option(help: "The number of published keys.")
  var keys = 100_000

  @Option(help: "The number of received identifiers, over 14 days.")
  var sightings = 1_000_000

  @Option(help: "The number of rounds.")
  var rounds = 7

  @Option(help: "The tier of the kernels; the fastest by default.")
  var tier: MatchTier?

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(keys, BenchLimit.keys, "--keys")
    try BenchLimit.check(sightings, Self.sightingCounts, "--sightings")
    try BenchLimit.check(rounds, Self.roundCounts, "--rounds")
  }

  func run() throws {
    BuildKind.warnUnlessRelease()
    let tier = try tier?.checkedForAvailability() ?? .fastest
    let bar = ProgressLine("rounds")
    let comparison = FilterComparison(
      MatchWorkload(keys: keys, sightings: sightings, seed: 1), tier: tier)
    let report = try comparison.run(rounds: rounds) { bar.show($0, of: rounds) }
    bar.clear()
    try output.write(report)
  }
}

/// Matchers of one workload that differ in the size of their filters.
struct FilterComparison {
  /// Powers of two, in words of 32 bits: 64 KiB to 16 MiB.
  private static let sizes = 14...22

  private let workload: MatchWorkload
  private let tier: MatchTier
  private let batches: [KeyBatch]
  /// The size that the matcher chooses, and then all sizes.
  private let matchers: [(wordsLog2: Int?, matcher: Matcher)]

  init(_ workload: MatchWorkload, tier: MatchTier) {
    self.workload = workload
    self.tier = tier
    let size = MatchLimit.keysPerBatch(against: workload.sightingCount)
    batches = stride(from: 0, to: workload.keyCount, by: size).map { start in
      KeyBatch((start..<min(start + size, workload.keyCount)).lazy.compactMap(workload.key))
    }
    let index = ContactIndex(
      workload.sightings.map { ScannedSighting($0) },
      secret: ProbeSecret(from: SystemRandomness()))
    let sizes: [Int?] = [nil] + Self.sizes.map { $0 }
    matchers = sizes.map { wordsLog2 in
      (
        wordsLog2,
        Matcher(index, tier: tier, direction: .forward, filterWordsLog2: wordsLog2)
      )
    }
  }

  /// - Throws: `CommandFailure` if two sizes do not find the same matches.
  func run(rounds: Int, progress: (Int) -> Void) throws -> FilterReport {
    // The first search creates the filters.
    let found = try matchers.map { try matchCount($0.matcher) }
    guard Set(found).count == 1 else {
      throw CommandFailure(status: .no, message: "The sizes do not find the same matches.")
    }
    var times = matchers.map { _ in [Double]() }
    for round in 0..<rounds {
      for (place, each) in matchers.enumerated() {
        let time = try ElapsedTime.measure { try matchCount(each.matcher) }.time.cpu
        times[place].append(time / .nanoseconds(workload.keyCount))
      }
      progress(round + 1)
    }
    return FilterReport(
      workload, tier: tier, sizes: matchers.map(\.wordsLog2), times: times, matches: found[0])
  }

  private func matchCount(_ matcher: Matcher) throws -> Int {
    var search = KeySearch(matcher, threads: 1)
    var matches = RawMatches()
    try search.run(into: &matches) { each in
      for batch in batches { try each(ProvisionalKeyBatch(keys: batch)) }
    }
    return matches.sightingCount
  }
}

/// The result of `filters`, as `--json` prints it.
struct FilterReport: MeasurementReport {
  struct Size: Encodable {
    /// The size of the filter of one day.
    let kibibytes: Int
    let nanosecondsPerKey: Double
    /// The time over that of the chosen size, median of the rounds.
    let ratio: Double
  }

  let build = BuildKind.current
  let tier: String
  let keys: Int
  let sightings: Int
  let matches: Int
  /// The median time with the size that the matcher chooses.
  let nanosecondsPerKey: Double
  /// The size that the matcher chooses for a day in the middle.
  let chosenKibibytes: Int
  let sizes: [Size]

  init(
    _ workload: MatchWorkload, tier: MatchTier, sizes: [Int?], times: [[Double]], matches: Int
  ) {
    self.tier = tier.rawValue
    keys = workload.keyCount
    sightings = workload.sightingCount
    self.matches = matches
    nanosecondsPerKey = Distribution(times[0]).median.rounded(to: 1)
    chosenKibibytes = (4 << ProbeFilter.wordsLog2(for: workload.identifiersNearDay)) >> 10
    self.sizes = zip(sizes, times).compactMap { wordsLog2, own in
      wordsLog2.map { wordsLog2 in
        Size(
          kibibytes: (4 << wordsLog2) >> 10,
          nanosecondsPerKey: Distribution(own).median.rounded(to: 1),
          ratio: Distribution(zip(own, times[0]).map { $0 / $1 }).median.rounded(to: 3))
      }
    }
  }

  var text: String {
    let rows = sizes.map { size in
      "\(size.kibibytes) KiB: \(size.nanosecondsPerKey) ns per key, ratio \(size.ratio)"
    }
    return """
      \(keys) keys against \(sightings) sightings in memory, one thread, \(tier), \(build.rawValue) build
      The matcher chooses about \(chosenKibibytes) KiB a day: \(nanosecondsPerKey) ns per key, \(matches) matches
      \(rows.joined(separator: "\n"))
      """
  }

  private enum CodingKeys: CodingKey {
    case build, tier, keys, sightings, matches, nanosecondsPerKey, chosenKibibytes, sizes
  }
}

extension MatchWorkload {
  /// The sightings of a day with those within the tolerance before and after it.
  fileprivate var identifiersNearDay: Int {
    let day = sightingCount / Self.days
    return day + 2 * day * Int(Matcher.toleranceIntervals) / Int(Self.intervalsPerDay)
  }

  private static var intervalsPerDay: UInt32 { 144 }
}
