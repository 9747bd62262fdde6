// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import Foundation
import Terminal

/// `firebreak bench match`: measures matching per key.
struct BenchMatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "Measure matching of a generated workload against the limit of the machine.",
    discussion: """
      Key starts are spread evenly over 14 days and keys are valid for a day; sightings are distinct and \
      spread over the same days; one key in 10,000 matches (at least one). The matcher must find exactly \
      these matches, otherwise the exit code is 1. See Documentation/Performance.md.
      """)

  @Option(help: "The number of published keys.")
  var keys = 1_000_000

  @Option(help: "The number of received identifiers.")
  var sightings = 20_000

  @Option(
    help:
      "memory (matching only), file (unzipped, no signature check) or zip (all steps of a phone)."
  )
  var from = KeySource.file

  @Option(
    help: "The number of matching threads; from 2 on the limit is measured on as many threads.")
  var threads = 1

  @Option(
    help:
      "portable, aesni-shani, vaes256, vaes512 or arm64; the fastest available by default.")
  var tier: MatchTier?

  @Option(help: "Keep key files, their public key and the sightings in this folder.")
  var keep: String?

  @Option(help: "The random seed; the same seed gives the same workload.")
  var seed: UInt64 = 1

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    try BenchLimit.check(keys, BenchLimit.keys, "--keys")
    try BenchLimit.check(sightings, BenchLimit.sightings, "--sightings")
    try BenchLimit.check(threads, BenchLimit.threads, "--threads")
    let planted = MatchWorkload.plantedCount(ofKeys: keys)
    guard planted <= sightings else {
      throw ValidationError(
        "One key in \(MatchWorkload.keysPerMatch) matches: use --sightings \(planted) or more.")
    }
  }

  func run() throws {
    let tier = try tier?.checkedForAvailability() ?? .fastest
    let folder = try BenchFolder(keep: keep)
    BuildKind.warnUnlessRelease()
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    let workload = MatchWorkload(keys: keys, sightings: sightings, seed: seed)
    let bench = MatchBench(
      workload: workload, source: from, threads: threads, tier: tier, folder: folder,
      isKept: keep != nil)
    let report = try bench.run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

/// The source of the matcher's keys.
enum KeySource: String, CaseIterable, ExpressibleByArgument, Encodable {
  /// Batches in memory: matching only.
  case memory
  /// An unzipped export: scanned and matched without checking the signature.
  case file
  /// A zip as a phone downloads it: inflated, CRC checked, hashed, scanned, matched and verified.
  case zip
}

extension MatchTier: ExpressibleByArgument, Encodable {
  /// Returns the tier, or throws a `CommandFailure` that lists the tiers of this machine.
  package func checkedForAvailability() throws -> MatchTier {
    guard !isAvailable else { return self }
    let names = Self.available.map(\.rawValue).joined(separator: ", ")
    throw CommandFailure.badInput(
      "This machine does not support the tier \(rawValue): use one of \(names).")
  }
}

/// The result of `bench match`, as `--json` prints it.
struct MatchBenchReport: Encodable {
  /// Processor time of all threads, and elapsed time.
  struct Times: Encodable {
    let cpu: Double
    let wall: Double
  }

  let build = BuildKind.current
  let tier: MatchTier
  let keys: Int
  /// Keys that no sighting can match because of their time; they are read, but not derived.
  let keysSkipped: Int
  let keysMatched: Int
  let sightings: Int
  let source: KeySource
  let threads: Int
  let nanosecondsPerKey: Times
  /// Elapsed time on one thread over that on all; absent for one thread.
  let gainOverOneThread: Double?
  /// From the elapsed time.
  let keysPerSecond: Double
  /// The time to index the sightings, once per run, not part of `nanosecondsPerKey`.
  let preparationMilliseconds: Times
  let baselineMiB: Double
  let peakMemoryMiB: Double
  let limitNanosecondsPerKey: KernelLimit
  /// Absent for one thread.
  let limitOnThreads: KernelLimitOnThreads?

  init(
    _ bench: MatchBench, result: MatchResult, indexing: ElapsedTime, matching: ElapsedTime,
    gauge: MemoryGauge, peak: Int, speedup: Double?, limit: KernelLimit,
    limitOnThreads: KernelLimitOnThreads?
  ) {
    tier = bench.tier
    keys = bench.workload.keyCount
    keysSkipped = result.keysSkipped
    keysMatched = Set(result.found.map(\.key)).count
    sightings = bench.workload.sightingCount
    source = bench.source
    threads = bench.threads
    nanosecondsPerKey = Times(
      cpu: (matching.cpu / .nanoseconds(keys)).rounded(to: 1),
      wall: (matching.wall / .nanoseconds(keys)).rounded(to: 1))
    keysPerSecond = (Double(keys) / (matching.wall / .seconds(1))).rounded()
    preparationMilliseconds = Times(
      cpu: (indexing.cpu / .milliseconds(1)).rounded(to: 2),
      wall: (indexing.wall / .milliseconds(1)).rounded(to: 2))
    baselineMiB = Self.mebibytes(gauge.baseline)
    peakMemoryMiB = Self.mebibytes(peak)
    gainOverOneThread = speedup
    limitNanosecondsPerKey = limit
    self.limitOnThreads = limitOnThreads
  }

  private static func mebibytes(_ bytes: Int) -> Double {
    (Double(bytes) / Double(1 << 20)).rounded(to: 2)
  }

  /// The result as text.
  var text: String {
    let limit = limitNanosecondsPerKey
    let above = (peakMemoryMiB - baselineMiB).rounded(to: 2)
    return """
      \(keys) keys against \(sightings) sightings, \(source.rawValue), \(threads) thread(s), \
      \(tier.rawValue), \(build.rawValue) build
      matched     \(keysMatched) keys, exactly the planted ones; \(keysSkipped) skipped because of their time
      per key     \(nanosecondsPerKey.cpu) ns processor time, \(nanosecondsPerKey.wall) ns elapsed
      per second  \(Int(keysPerSecond)) keys
      limit       \(limit.total) ns: schedule \(limit.schedule), blocks \(limit.blocks), \
      probe \(limit.probe); this run took \((nanosecondsPerKey.cpu / limit.total).rounded(to: 2)) times as long\
      \(textOnThreads)
      index       \(preparationMilliseconds.cpu) ms processor time to index the sightings
      memory      \(above) MiB above the baseline of \(baselineMiB) MiB
      """
  }

  private var textOnThreads: String {
    guard let limit = limitOnThreads, let gainOverOneThread else { return "" }
    return """

      threads     \(gainOverOneThread) times as fast as one thread; the kernels alone \(limit.scaling) times \
      (median \(limit.medianScaling)), \(limit.nanosecondsPerKey.total) ns elapsed per key
      """
  }
}
