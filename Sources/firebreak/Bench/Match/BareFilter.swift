import CExposureKernels
import ExposureKeys
import ExposureNotification
import World

/// The matcher's own filter for one day of a workload, asked by nothing but the kernels.
struct BareFilter {
  private let day: ProbeFilter

  /// The filter for the day in the middle of `workload`, with what was heard in reach of it.
  init(of workload: MatchWorkload) {
    let share = workload.sightingCount / MatchWorkload.days
    let middle = MatchWorkload.days / 2 * share
    let reach = share * Int(Matcher.toleranceIntervals) / Int(IntervalNumber.perDay)
    let numbers = max(0, middle - reach)..<min(workload.sightingCount, middle + share + reach + 1)
    day = ProbeFilter(
      numbers.map { workload.sighting($0).advertisement.identifier.words },
      secret: ProbeSecret(from: SystemRandomness()))
  }

  /// Asks for the first `count` of `identifiers`, 16 bytes each.
  func probe(_ tier: ek_tier, _ identifiers: [UInt8], _ count: Int) -> UInt64 {
    withUnsafePointer(to: day.filter) { ek_bare_probe(tier, $0, identifiers, count) }
  }
}
