import ExposureNotification
import Foundation

/// What the processor allows: the tier's kernels alone, on keys and sightings of the same workload, in
/// nanoseconds a key of 144 intervals.
///
/// Documentation/Performance.md 4. The best of several rounds: whatever else the machine does only
/// adds to the others.
struct KernelLimit: Encodable {
  /// HKDF of the identifier key.
  let schedule: Double
  /// AES key expansion and 144 blocks.
  let blocks: Double
  /// 144 questions to a filter that holds what was heard in reach of one day.
  let probe: Double
  /// The sum of the three.
  let total: Double

  static let rounds = 9
  /// Keys of the workload that are taken, at most: 256 KiB of them.
  static let keyCountMax = 16_384

  /// On one thread, by its processor time.
  init(of workload: MatchWorkload, tier: MatchTier) {
    let stages = BareStages(of: workload, tier: tier, filter: BareFilter(of: workload))
    self.init { stage in
      (0..<Self.rounds).map { _ in
        let spent = SpentTime.measure { stages.run(stage) }
        return spent.time.cpu / .nanoseconds(1) / Double(spent.result)
      }
    }
  }

  /// The best of what each stage took.
  init(bestOf times: (BareStage) -> [Double]) {
    func best(_ stage: BareStage) -> Double { (times(stage).min() ?? 0).rounded(to: 1) }
    schedule = best(.schedule)
    blocks = best(.blocks)
    probe = best(.probe)
    total = (schedule + blocks + probe).rounded(to: 1)
  }

  subscript(stage: BareStage) -> Double {
    switch stage {
    case .schedule: schedule
    case .blocks: blocks
    case .probe: probe
    }
  }
}
