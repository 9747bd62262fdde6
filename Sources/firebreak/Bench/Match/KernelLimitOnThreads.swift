import ExposureNotification

/// What the machine allows on several threads: the same kernels on all of them at once, by the clock.
///
/// Documentation/Performance.md 4.4. Processors may be two threads of one core, or be lent to
/// somebody else; a match can gain no more from them than the kernels alone do.
struct KernelLimitOnThreads: Encodable {
  /// For a key of all threads together, the best of the rounds.
  let nanosecondsPerKey: KernelLimit
  /// The stages on one thread, by the same clock, in turns with all of them: the best of the rounds.
  let oneThreadNanosecondsPerKey: Double
  /// One thread over all threads, both at their best.
  let scaling: Double
  /// The same within each round, in the middle of the rounds: what the machine does with usual luck.
  let medianScaling: Double

  /// How long one thread takes for a trial, at least: threads that are let go at once do not begin at
  /// once, and that must not count.
  private static let trial = Duration.milliseconds(10)
  /// A pass that is said to take less is too short to be told from none.
  private static let shortestPass = Duration.microseconds(1)

  /// On `threads` threads, where one alone takes `alone`.
  init(of workload: MatchWorkload, tier: MatchTier, threads: Int, alone: KernelLimit) {
    let stages = BareStage.allCases.flatMap { stage in
      let passes = Self.passes(of: alone[stage], keys: BareStages.keyCount(of: workload))
      return [1, threads].map { BareCrew.Trial(stage: stage, threads: $0, passes: passes) }
    }
    let trials = (0..<KernelLimit.rounds).flatMap { _ in stages }
    let crew = BareCrew(workload: workload, tier: tier, threads: threads)
    self.init(zip(trials, crew.run(trials)).map { ($0, $1) })
  }

  /// From trials on one thread and on all, in rounds, and what each thread did of them.
  init(_ trials: [(trial: BareCrew.Trial, shares: [BareCrew.Share])]) {
    func times(of stage: BareStage, onOne: Bool) -> [Double] {
      trials.filter { $0.trial.stage == stage && ($0.trial.threads == 1) == onOne }
        .map(\.shares.nanosecondsPerKey)
    }
    let one = KernelLimit { times(of: $0, onOne: true) }
    nanosecondsPerKey = KernelLimit { times(of: $0, onOne: false) }
    oneThreadNanosecondsPerKey = one.total
    scaling = (one.total / nanosecondsPerKey.total).rounded(to: 2)
    let rounds = zip(
      Self.sums { times(of: $0, onOne: true) }, Self.sums { times(of: $0, onOne: false) })
    medianScaling = Spread(rounds.map { $0 / $1 }).median.rounded(to: 2)
  }

  /// What the stages took together in each round.
  private static func sums(_ times: (BareStage) -> [Double]) -> [Double] {
    BareStage.allCases.map(times).reduce([]) { sums, times in
      sums.isEmpty ? times : zip(sums, times).map(+)
    }
  }

  private static func passes(of nanosecondsPerKey: Double, keys: Int) -> Int {
    let pass = max(.nanoseconds(1) * nanosecondsPerKey * Double(keys), shortestPass)
    return Int((trial / pass).rounded(.up))
  }
}
