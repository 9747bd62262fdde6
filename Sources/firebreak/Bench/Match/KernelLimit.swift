import ExposureNotification
import Foundation

/// What the processor allows: the tier's kernels alone, on keys and sightings of the same workload, in
/// nanoseconds a key of 144 intervals on one thread.
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

  init(of workload: MatchWorkload, tier: MatchTier) {
    let stages = BareStages(of: workload, tier: tier)
    schedule = Self.best(keys: stages.keyCount) { stages.schedule() }
    blocks = Self.best(keys: stages.keyCount) { stages.blocks() }
    probe = Self.best(keys: stages.keysProbed) { stages.probe() }
    total = (schedule + blocks + probe).rounded(to: 1)
  }

  private static func best(keys: Int, _ stage: () -> Void) -> Double {
    let times = (0..<rounds).map { _ in
      SpentTime.measure(stage).time.cpu / .nanoseconds(1) / Double(keys)
    }
    return (times.min() ?? 0).rounded(to: 1)
  }
}
