import Dispatch
import ExposureNotification
import Synchronization

/// Threads that do the bare stages side by side, each on keys and in buffers of its own; they share the
/// filter, as in a match, and nothing else.
struct BareCrew {
  /// One stage, done so many times over by each of so many threads at once.
  struct Trial {
    let stage: BareStage
    let threads: Int
    let passes: Int
  }

  /// What one thread did of a trial, and when.
  struct Share {
    let keys: Int
    let begin: ContinuousClock.Instant
    let end: ContinuousClock.Instant
  }

  let workload: MatchWorkload
  let tier: MatchTier
  let threads: Int

  /// What each thread did of each trial, `trial.threads` shares each.
  ///
  /// No trial begins before all threads are there and the one before is over.
  func run(_ trials: [Trial]) -> [[Share]] {
    let filter = BareFilter(of: workload)
    let starts = trials.map { _ in start() }
    let done = Mutex<[[Share?]]>([])
    let everyone = DispatchGroup()
    // A queue of its own each: they all get a thread, however few processors there are.
    for number in 0..<threads {
      DispatchQueue(label: "bare-kernels-\(number)").async(group: everyone) {
        let stages = BareStages(of: workload, tier: tier, filter: filter)
        let shares = zip(trials, starts).map { trial, start in
          start.leave()
          start.wait()
          return number < trial.threads ? share(of: trial, stages) : nil
        }
        done.withLock { $0.append(shares) }
      }
    }
    everyone.wait()
    let shares = done.withLock { $0 }
    return trials.indices.map { trial in shares.compactMap { $0[trial] } }
  }

  /// A barrier for once: who waits for it is let go when every thread has left it.
  private func start() -> DispatchGroup {
    let group = DispatchGroup()
    for _ in 0..<threads { group.enter() }
    return group
  }

  private func share(of trial: Trial, _ stages: BareStages) -> Share {
    var keys = 0
    let begin = ContinuousClock.now
    for _ in 0..<trial.passes { keys += stages.run(trial.stage) }
    return Share(keys: keys, begin: begin, end: ContinuousClock.now)
  }
}

extension [BareCrew.Share] {
  /// What a key took by the clock, from the first thread's begin to the last one's end.
  var nanosecondsPerKey: Double {
    guard let begin = map(\.begin).min(), let end = map(\.end).max() else { return 0 }
    return (end - begin) / .nanoseconds(1) / Double(reduce(0) { $0 + $1.keys })
  }
}
