// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Terminal
import TextEncodings
import World

/// One measurement: generates the workload, matches it, checks the result and measures the limit.
struct MatchBench {
  let workload: MatchWorkload
  let source: KeySource
  let threads: Int
  let tier: MatchTier
  let folder: BenchFolder
  let isKept: Bool

  /// - Throws: `CommandFailure` if the matcher does not find exactly the planted matches.
  func run() throws -> MatchBenchReport {
    let input = try input()
    let bar = ProgressLine("keys")
    defer { bar.clear() }
    bar.show("Matching \(workload.keyCount) keys")
    try warmUp()
    let gauge = MemoryGauge()
    // Generating the sightings is not part of the measurement.
    let sightings = workload.sightings.map { ScannedSighting($0) }
    let matcher = ElapsedTime.measure {
      MeasuredMatcher(against: sightings, threads: threads, tier: tier)
    }
    let match = try ElapsedTime.measure { try matcher.result.match(input) }
    let peak = gauge.peak
    try match.result.check(against: workload)
    bar.show("Measuring the limit of this machine")
    let speedup = try speedup(of: matcher.result, over: input)
    let limit = KernelLimit(of: workload, tier: tier)
    return MatchBenchReport(
      self, result: match.result, indexing: matcher.time, matching: match.time, gauge: gauge,
      peak: peak, speedup: speedup, limit: limit, limitOnThreads: limitOnThreads(alone: limit))
  }

  /// The median over alternating rounds of elapsed time on one thread over that on all; nil for one thread.
  private func speedup(
    of matcher: MeasuredMatcher, over input: MatchInput
  ) throws -> Double? {
    guard threads > 1 else { return nil }
    let rounds = try (0..<Self.speedupRounds).map { _ in
      let times = try [1, threads].map { threads in
        let match = try ElapsedTime.measure { try matcher.on(threads: threads).match(input) }
        try match.result.check(against: workload)
        return match.time.wall
      }
      return times[0] / times[1]
    }
    return Distribution(rounds).median.rounded(to: 2)
  }

  private static let speedupRounds = 5

  /// The limit on all threads; nil for one thread.
  private func limitOnThreads(alone: KernelLimit) -> KernelLimitOnThreads? {
    guard threads > 1 else { return nil }
    return KernelLimitOnThreads(of: workload, tier: tier, threads: threads, alone: alone)
  }

  /// Writes the files that the source needs or that are to be kept.
  private func input() throws -> MatchInput {
    let bar = ProgressLine("keys and sightings written")
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

  /// Matches a small workload first, so that one-time initialization does not count.
  private func warmUp() throws {
    let few = MatchWorkload(keys: Self.warmUpKeys, sightings: Self.warmUpKeys, seed: 0)
    let folder = try BenchFolder(keep: nil)
    defer { folder.removeUnlessKept() }
    var files = try WorkloadFiles(in: folder)
    try files.writeKeys(of: few, unzipped: source == .file) { _ in }
    let matcher = MeasuredMatcher(
      against: few.sightings.map { ScannedSighting($0) }, threads: threads, tier: tier)
    try matcher.match(try MatchInput(source, few, files)).check(against: few)
  }

  private static let warmUpKeys = 1_000
}

/// The keys for the matcher.
enum MatchInput {
  case memory([KeyBatch])
  case exports([URL])
  case zips([URL], signedBy: VerificationPublicKey)

  init(_ source: KeySource, _ workload: MatchWorkload, _ files: WorkloadFiles) throws {
    switch source {
    case .memory:
      let size = MatchLimit.keysPerBatch(against: workload.sightingCount)
      let batches = stride(from: 0, to: workload.keyCount, by: size).map { start in
        KeyBatch((start..<min(start + size, workload.keyCount)).lazy.compactMap(workload.key))
      }
      self = .memory(batches)
    case .file: self = .exports(files.keyFiles)
    case .zip: self = .zips(files.keyFiles, signedBy: try files.verificationKey)
    }
  }
}

/// The framework's matcher, as the bench calls it.
struct MeasuredMatcher {
  private let matcher: Matcher
  private var threads: Int

  init(against sightings: [ScannedSighting], threads: Int, tier: MatchTier) {
    let index = ContactIndex(sightings, secret: ProbeSecret(from: SystemRandomness()))
    matcher = Matcher(index, tier: tier)
    self.threads = threads
  }

  /// The same matcher with another number of threads.
  func on(threads: Int) -> Self {
    var other = self
    other.threads = threads
    return other
  }

  func match(_ input: MatchInput) throws -> MatchResult {
    var search = KeySearch(matcher, threads: threads)
    var matches = RawMatches()
    var result = MatchResult()
    switch input {
    case .memory(let batches):
      try search.run(into: &matches) { each in
        for batch in batches { try each(ProvisionalKeyBatch(keys: batch)) }
      }
      result.keysRead = batches.reduce(0) { $0 + $1.count }
    case .exports(let files):
      for file in files {
        result.keysRead += try search.run(into: &matches) { each in
          try UnverifiedKeyFile(at: file).scannedKeys(
            batchSize: matcher.keysPerBatch, each: each)
        }
      }
    case .zips(let files, let key):
      for file in files {
        let verified = try search.run(into: &matches) { each in
          try UnverifiedKeyFile(at: file).verified(
            by: [key], batchSize: matcher.keysPerBatch, each: each)
        }
        result.keysRead += verified.facts.keyCount
      }
    }
    result.keysSkipped = search.counters.keysSkipped
    result.count = matches.sightingCount
    result.found = Set(matches.inOrder.map(MatchResult.Match.init))
    return result
  }
}

/// The result of matching, in a form that can be compared with the planted matches.
struct MatchResult {
  /// A match: the key in hex, the interval of the identifier and the time of the sighting in Unix seconds.
  struct Match: Hashable {
    let key: String
    let interval: UInt32
    let second: Int
  }

  var keysRead = 0
  /// Keys that no sighting can match because of their time; they are not derived.
  var keysSkipped = 0
  var found: Set<Match> = []
  /// The number of matches, including repeated ones.
  var count = 0

  /// - Throws: `CommandFailure` if the matches are not exactly those planted in `workload`.
  func check(against workload: MatchWorkload) throws {
    let planted = workload.plantedMatches
    let missing = planted.subtracting(found).count
    let surplus = count - (planted.count - missing)
    guard keysRead == workload.keyCount, missing == 0, surplus == 0 else {
      throw CommandFailure(
        status: .no,
        message:
          "\(keysRead) of \(workload.keyCount) keys were read, \(missing) of \(planted.count) planted "
          + "matches are missing, and \(surplus) reported matches are wrong.")
    }
  }
}

extension MatchResult.Match {
  init(_ match: RawMatch) {
    self.init(
      key: match.key.secretBytes.hexadecimal, interval: match.sighting.sentIn.rawValue,
      second: Int(match.sighting.time.unixSecond))
  }
}

extension MatchWorkload {
  /// The matches that a correct matcher finds.
  var plantedMatches: Set<MatchResult.Match> {
    Set((0..<sightingCount).compactMap(plantedMatch))
  }
}
