// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import Dispatch
import ExposureKeys
import ExposureNotification
import Foundation
import Synchronization
import World

/// The limit of the processor: the time of the tier's kernels alone, on the same workload, in nanoseconds per key of
/// 144 intervals.
///
/// The best of several rounds counts, because other load only adds time.
struct KernelLimit: Encodable {
  /// HKDF of the identifier key.
  let schedule: Double
  /// AES key expansion and 144 blocks.
  let blocks: Double
  /// 144 probes of the filter of one day.
  let probe: Double
  /// The sum of the three.
  let total: Double

  static let rounds = 9
  /// The maximum number of keys, 256 KiB.
  static let keyCountMax = 16_384

  /// Measures processor time on one thread.
  init(of workload: MatchWorkload, tier: MatchTier) {
    let stages = BareKernels(of: workload, tier: tier, filter: BareFilter(of: workload))
    self.init { stage in
      (0..<Self.rounds).map { _ in
        let spent = ElapsedTime.measure { stages.run(stage) }
        return spent.time.cpu / .nanoseconds(1) / Double(spent.result)
      }
    }
  }

  /// Takes the best time of each stage.
  init(bestOf times: (KernelStage) -> [Double]) {
    func best(_ stage: KernelStage) -> Double { (times(stage).min() ?? 0).rounded(to: 1) }
    schedule = best(.schedule)
    blocks = best(.blocks)
    probe = best(.probe)
    total = (schedule + blocks + probe).rounded(to: 1)
  }

  subscript(stage: KernelStage) -> Double {
    switch stage {
    case .schedule: schedule
    case .blocks: blocks
    case .probe: probe
    }
  }
}

/// The limit with several threads: memory bandwidth and shared clocks make it less than the sum of the threads.
struct KernelLimitOnThreads: Encodable {
  /// The elapsed time per key with all threads, best of the rounds.
  let nanosecondsPerKey: KernelLimit
  /// The elapsed time per key on one thread, measured in alternation, best of the rounds.
  let oneThreadNanosecondsPerKey: Double
  /// One thread over all threads, from the best times.
  let scaling: Double
  /// The median over the rounds of the same ratio within a round.
  let medianScaling: Double

  /// The minimum duration of a trial on one thread, so that uneven thread starts do not count.
  private static let trialDuration = Duration.milliseconds(10)
  /// A lower bound for the duration of a pass, against division by zero.
  private static let shortestPass = Duration.microseconds(1)

  /// Measures on `threads` threads; `alone` is the limit on one.
  init(of workload: MatchWorkload, tier: MatchTier, threads: Int, alone: KernelLimit) {
    let stages = KernelStage.allCases.flatMap { stage in
      let passes = Self.passes(of: alone[stage], keys: BareKernels.keyCount(of: workload))
      return [1, threads].map { BareKernelThreads.Trial(stage: stage, threads: $0, passes: passes) }
    }
    let trials = (0..<KernelLimit.rounds).flatMap { _ in stages }
    let kernels = BareKernelThreads(workload: workload, tier: tier, threads: threads)
    self.init(zip(trials, kernels.run(trials)).map { ($0, $1) })
  }

  /// Evaluates trials on one thread and on all.
  init(_ trials: [(trial: BareKernelThreads.Trial, shares: [BareKernelThreads.Share])]) {
    func times(of stage: KernelStage, onOne: Bool) -> [Double] {
      trials.filter { $0.trial.stage == stage && ($0.trial.threads == 1) == onOne }
        .map(\.shares.nanosecondsPerKey)
    }
    let one = KernelLimit { times(of: $0, onOne: true) }
    nanosecondsPerKey = KernelLimit { times(of: $0, onOne: false) }
    oneThreadNanosecondsPerKey = one.total
    scaling = (one.total / nanosecondsPerKey.total).rounded(to: 2)
    let rounds = zip(
      Self.sums { times(of: $0, onOne: true) }, Self.sums { times(of: $0, onOne: false) })
    medianScaling = Distribution(rounds.map { $0 / $1 }).median.rounded(to: 2)
  }

  /// The sum of the stages in each round.
  private static func sums(_ times: (KernelStage) -> [Double]) -> [Double] {
    KernelStage.allCases.map(times).reduce([]) { sums, times in
      sums.isEmpty ? times : zip(sums, times).map(+)
    }
  }

  private static func passes(of nanosecondsPerKey: Double, keys: Int) -> Int {
    let pass = max(.nanoseconds(1) * nanosecondsPerKey * Double(keys), shortestPass)
    return Int((trialDuration / pass).rounded(.up))
  }
}

/// The kernels of one tier on prepared data, without the matcher around them.
struct BareKernels {
  /// The number of probed identifiers: 512 KiB, which stay in the cache. A match keeps identifiers in registers.
  private static let identifiersProbed = 32_768

  private let keyCount: Int
  private let tier: ek_tier
  private let keys: [UInt8]
  private let identifierKeys: [UInt8]
  private let identifiers: [UInt8]
  private let filter: BareFilter

  init(of workload: MatchWorkload, tier: MatchTier, filter: BareFilter) {
    keyCount = Self.keyCount(of: workload)
    self.tier = tier.kernels
    keys = (0..<keyCount).flatMap { workload.key($0)?.key.secretBytes ?? [] }
    var derived = [UInt8](repeating: 0, count: keys.count)
    ek_identifier_keys(self.tier, keys, keyCount, &derived)
    identifierKeys = derived
    identifiers = Self.identifiers(of: derived, tier: self.tier)
    self.filter = filter
  }

  /// The number of keys of each stage.
  static func keyCount(of workload: MatchWorkload) -> Int {
    min(workload.keyCount, KernelLimit.keyCountMax)
  }

  /// Runs the stage once and returns the number of keys.
  func run(_ stage: KernelStage) -> Int {
    switch stage {
    case .schedule: schedule()
    case .blocks: blocks()
    case .probe: probe()
    }
    return keyCount
  }

  private func schedule() {
    var buffer = [UInt8](repeating: 0, count: Int(EK_BARE_BATCH) * TemporaryExposureKey.byteCount)
    ek_bare_schedule(tier, keys, keyCount, &buffer)
  }

  private func blocks() {
    _ = ek_bare_blocks(tier, identifierKeys, MatchWorkload.firstInterval, keyCount)
  }

  /// Probes as many identifiers as the keys have.
  private func probe() {
    let count = identifiers.count / RollingProximityIdentifier.byteCount
    var left = keyCount * Int(IntervalNumber.perDay)
    while left > 0 {
      _ = filter.probe(tier, identifiers, min(left, count))
      left -= count
    }
  }

  private static func identifiers(of identifierKeys: [UInt8], tier: ek_tier) -> [UInt8] {
    let (size, perKey) = (TemporaryExposureKey.byteCount, Int(IntervalNumber.perDay))
    let all = stride(from: 0, to: identifierKeys.count, by: size).lazy.flatMap { start in
      var ofKey = [UInt8](repeating: 0, count: perKey * size)
      identifierKeys[start..<start + size].withUnsafeBufferPointer {
        ek_identifiers(
          tier, $0.baseAddress, MatchWorkload.firstInterval, IntervalNumber.perDay, &ofKey)
      }
      return ofKey
    }
    return Array(all.prefix(identifiersProbed * size))
  }
}

/// A stage of matching.
enum KernelStage: CaseIterable {
  /// HKDF of the identifier key.
  case schedule
  /// AES key expansion and 144 blocks.
  case blocks
  /// 144 probes of a filter with the sightings of one day and the tolerance around it.
  case probe
}

/// The matcher's filter for one day of a workload, probed by the kernels directly.
struct BareFilter {
  private let day: ProbeFilter

  /// The filter for the middle day of `workload`, with the sightings within the tolerance.
  init(of workload: MatchWorkload) {
    let share = workload.sightingCount / MatchWorkload.days
    let middle = MatchWorkload.days / 2 * share
    let reach = share * Int(Matcher.toleranceIntervals) / Int(IntervalNumber.perDay)
    let numbers = max(0, middle - reach)..<min(workload.sightingCount, middle + share + reach + 1)
    day = ProbeFilter(
      numbers.map { workload.sighting($0).advertisement.identifier.words },
      secret: ProbeSecret(from: SystemRandomness()))
  }

  /// Probes the first `count` of `identifiers`, 16 bytes each.
  func probe(_ tier: ek_tier, _ identifiers: [UInt8], _ count: Int) -> UInt64 {
    withUnsafePointer(to: day.filter) { ek_bare_probe(tier, $0, identifiers, count) }
  }
}

/// Runs stages on several threads at once. Threads have their own keys and buffers and share the filter, as in a match.
struct BareKernelThreads {
  /// A stage that `threads` threads run `passes` times each at the same time.
  struct Trial {
    let stage: KernelStage
    let threads: Int
    let passes: Int
  }

  /// The work of one thread in a trial.
  struct Share {
    let keys: Int
    let begin: ContinuousClock.Instant
    let end: ContinuousClock.Instant
  }

  let workload: MatchWorkload
  let tier: MatchTier
  let threads: Int

  /// Runs the trials one after another; each starts when all threads are ready.
  ///
  /// - Returns: `trial.threads` shares for each trial.
  func run(_ trials: [Trial]) -> [[Share]] {
    let filter = BareFilter(of: workload)
    let barriers = trials.map { _ in barrier() }
    let finished = Mutex<[[Share?]]>([])
    let allThreads = DispatchGroup()
    // A queue of its own gives each job a thread, even with fewer processors.
    for number in 0..<threads {
      DispatchQueue(label: "bare-kernels-\(number)").async(group: allThreads) {
        let stages = BareKernels(of: workload, tier: tier, filter: filter)
        let shares = zip(trials, barriers).map { trial, barrier in
          barrier.leave()
          barrier.wait()
          return number < trial.threads ? share(of: trial, stages) : nil
        }
        finished.withLock { $0.append(shares) }
      }
    }
    allThreads.wait()
    let shares = finished.withLock { $0 }
    return trials.indices.map { trial in shares.compactMap { $0[trial] } }
  }

  /// A barrier that opens when every thread has left it.
  private func barrier() -> DispatchGroup {
    let group = DispatchGroup()
    for _ in 0..<threads { group.enter() }
    return group
  }

  private func share(of trial: Trial, _ stages: BareKernels) -> Share {
    var keys = 0
    let begin = ContinuousClock.now
    for _ in 0..<trial.passes { keys += stages.run(trial.stage) }
    return Share(keys: keys, begin: begin, end: ContinuousClock.now)
  }
}

extension [BareKernelThreads.Share] {
  /// The elapsed time per key, from the first start to the last end.
  var nanosecondsPerKey: Double {
    guard let begin = map(\.begin).min(), let end = map(\.end).max() else { return 0 }
    return (end - begin) / .nanoseconds(1) / Double(reduce(0) { $0 + $1.keys })
  }
}
