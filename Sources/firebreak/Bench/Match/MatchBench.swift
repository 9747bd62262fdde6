import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation

/// One measurement: makes the workload, matches it, checks what was found, measures the limit.
///
/// Documentation/Performance.md 3.
struct MatchBench {
  let workload: MatchWorkload
  let source: KeySource
  let threads: Int
  let tier: MatchTier
  let folder: BenchFolder
  let isKept: Bool

  /// Throws a `CommandFailure` where the matcher was wrong.
  func run() throws -> MatchBenchReport {
    let input = try input()
    try warmUp()
    let gauge = MemoryGauge()
    // In memory as a phone has them, but made here: that is the bench's work and is not timed.
    let heard = workload.sightings.map { ScannedSighting($0) }
    let matcher = SpentTime.measure {
      MatcherUnderMeasurement(against: heard, threads: threads, tier: tier)
    }
    let match = try SpentTime.measure { try matcher.result.match(input) }
    let peak = gauge.peak
    try match.result.check(against: workload)
    let gain = try gain(of: matcher.result, over: input)
    let limit = KernelLimit(of: workload, tier: tier)
    return MatchBenchReport(
      self, findings: match.result, preparing: matcher.time, matching: match.time, gauge: gauge,
      peak: peak, gain: gain, limit: limit, limitOnThreads: limitOnThreads(alone: limit))
  }

  /// What all threads gain over one by the clock, in turns, in the middle of the rounds; nil where one matches.
  private func gain(
    of matcher: MatcherUnderMeasurement, over input: MatchInput
  ) throws -> Double? {
    guard threads > 1 else { return nil }
    let rounds = try (0..<Self.gainRounds).map { _ in
      let times = try [1, threads].map { threads in
        let match = try SpentTime.measure { try matcher.on(threads: threads).match(input) }
        try match.result.check(against: workload)
        return match.time.wall
      }
      return times[0] / times[1]
    }
    return Spread(rounds).median.rounded(to: 2)
  }

  private static let gainRounds = 5

  /// The limit on as many threads as match; nil where that is one.
  private func limitOnThreads(alone: KernelLimit) -> KernelLimitOnThreads? {
    guard threads > 1 else { return nil }
    return KernelLimitOnThreads(of: workload, tier: tier, threads: threads, alone: alone)
  }

  /// What the matcher is given; its files are written where it needs some or they are to be kept.
  private func input() throws -> MatchInput {
    let bar = ProgressLine(what: "keys and sightings written")
    defer { bar.clear() }
    let all = workload.keyCount + workload.sightingCount
    var files = try WorkloadFiles(in: folder)
    if isKept || source != .memory {
      try files.writeKeys(of: workload, unzipped: source == .file) { bar.show($0, of: all) }
    }
    if isKept {
      try files.writeSightings(of: workload) { bar.show(workload.keyCount + $0, of: all) }
    }
    return try MatchInput(source, workload, files)
  }

  /// Matches a few keys of the same kind, so that what is loaded once counts neither as time nor as
  /// memory of the matching.
  private func warmUp() throws {
    let few = MatchWorkload(keys: Self.warmUpKeys, sightings: Self.warmUpKeys, seed: 0)
    let folder = try BenchFolder(keep: nil)
    defer { folder.removeUnlessKept() }
    var files = try WorkloadFiles(in: folder)
    try files.writeKeys(of: few, unzipped: source == .file) { _ in }
    let matcher = MatcherUnderMeasurement(
      against: few.sightings.map { ScannedSighting($0) }, threads: threads, tier: tier)
    try matcher.match(try MatchInput(source, few, files)).check(against: few)
  }

  private static let warmUpKeys = 1_000
}

extension MatchInput {
  init(_ source: KeySource, _ workload: MatchWorkload, _ files: WorkloadFiles) throws {
    switch source {
    case .memory:
      let size = MatchLimit.keysPerBatch
      let batches = stride(from: 0, to: workload.keyCount, by: size).map { start in
        KeyBatch((start..<min(start + size, workload.keyCount)).lazy.compactMap(workload.key))
      }
      self = .memory(batches)
    case .file: self = .exports(files.keyFiles)
    case .zip: self = .zips(files.keyFiles, signedBy: try files.verificationKey)
    }
  }
}
