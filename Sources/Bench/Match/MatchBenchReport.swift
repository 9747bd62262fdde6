import ExposureNotification
import Foundation

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
