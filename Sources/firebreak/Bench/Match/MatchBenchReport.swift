import ExposureNotification
import Foundation

/// What `bench match` measured, as `--json` prints it. Documentation/Performance.md 3.
struct MatchBenchReport: Encodable {
  /// Of all threads together, and on the clock.
  struct Times: Encodable {
    let cpu: Double
    let wall: Double
  }

  let build = BuildKind.current
  let tier: MatchTier
  let keys: Int
  /// Keys that no sighting was near enough to in time: read, but not derived.
  let keysSkipped: Int
  let keysMatched: Int
  let sightings: Int
  let source: KeySource
  let threads: Int
  let nanosecondsPerKey: Times
  /// One thread over all of them by the clock, in turns in this run; absent where one thread matched.
  let gainOverOneThread: Double?
  /// By the clock on the wall.
  let keysPerSecond: Double
  /// Making the index of the sightings, once a run, not in `nanosecondsPerKey`.
  let preparationMilliseconds: Times
  let baselineMiB: Double
  let peakMemoryMiB: Double
  let limitNanosecondsPerKey: KernelLimit
  /// Absent where one thread matched.
  let limitOnThreads: KernelLimitOnThreads?

  init(
    _ bench: MatchBench, findings: MatchFindings, preparing: SpentTime, matching: SpentTime,
    gauge: MemoryGauge, peak: Int, gain: Double?, limit: KernelLimit,
    limitOnThreads: KernelLimitOnThreads?
  ) {
    tier = bench.tier
    keys = bench.workload.keyCount
    keysSkipped = findings.keysSkipped
    keysMatched = Set(findings.found.map(\.key)).count
    sightings = bench.workload.sightingCount
    source = bench.source
    threads = bench.threads
    nanosecondsPerKey = Times(
      cpu: (matching.cpu / .nanoseconds(keys)).rounded(to: 1),
      wall: (matching.wall / .nanoseconds(keys)).rounded(to: 1))
    keysPerSecond = (Double(keys) / (matching.wall / .seconds(1))).rounded()
    preparationMilliseconds = Times(
      cpu: (preparing.cpu / .milliseconds(1)).rounded(to: 2),
      wall: (preparing.wall / .milliseconds(1)).rounded(to: 2))
    baselineMiB = Self.mebibytes(gauge.baseline)
    peakMemoryMiB = Self.mebibytes(peak)
    gainOverOneThread = gain
    limitNanosecondsPerKey = limit
    self.limitOnThreads = limitOnThreads
  }

  private static func mebibytes(_ bytes: Int) -> Double {
    (Double(bytes) / Double(1 << 20)).rounded(to: 2)
  }

  /// The same for people to read.
  var text: String {
    let limit = limitNanosecondsPerKey
    let above = (peakMemoryMiB - baselineMiB).rounded(to: 2)
    return """
      \(keys) keys against \(sightings) sightings, \(source.rawValue), \(threads) thread(s), \
      \(tier.rawValue), \(build.rawValue) build
      matched     \(keysMatched) keys, all that were planted; \(keysSkipped) skipped by their time
      a key       \(nanosecondsPerKey.cpu) ns of processor time, \(nanosecondsPerKey.wall) ns on the clock
      a second    \(Int(keysPerSecond)) keys
      limit       \(limit.total) ns: schedule \(limit.schedule), blocks \(limit.blocks), \
      probe \(limit.probe); this run took \((nanosecondsPerKey.cpu / limit.total).rounded(to: 2)) times that\
      \(textOnThreads)
      beforehand  \(preparationMilliseconds.cpu) ms of processor time to index the sightings
      memory      \(above) MiB above the \(baselineMiB) MiB before
      """
  }

  private var textOnThreads: String {
    guard let limit = limitOnThreads, let gainOverOneThread else { return "" }
    return """

      on threads  \(gainOverOneThread) times as fast as on one, in turns
      \("          ")  \(limit.nanosecondsPerKey.total) ns on the clock, bare: \(threads) threads do \
      \(limit.scaling) times what one does, \(limit.medianScaling) in the middle of the rounds
      """
  }
}
