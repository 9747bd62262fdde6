import ExposureNotification
import Foundation

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
