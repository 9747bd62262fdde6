import CExposureKernels
import ExposureKeys
import ExposureNotification

/// A filter that holds what was heard in reach of one day, as large as a matcher would make it.
final class BareFilter {
  /// Words for each identifier: 128 bits, of which two are set.
  private static let wordsPerIdentifier = 4
  /// The largest filter, in words: a mebibyte, which the second-level cache holds.
  private static let wordCountMax = 1 << 18

  private var filter: ek_filter

  /// The filter for the day in the middle of `workload`.
  init(of workload: MatchWorkload) {
    let share = workload.sightingCount / MatchWorkload.days
    let middle = MatchWorkload.days / 2 * share
    let reach = share * Int(Matcher.toleranceIntervals) / Int(IntervalNumber.perDay)
    let numbers = max(0, middle - reach)..<min(workload.sightingCount, middle + share + reach + 1)
    var logarithm: UInt32 = 0
    let wanted = min(numbers.count * Self.wordsPerIdentifier, Self.wordCountMax)
    while 1 << logarithm < wanted { logarithm += 1 }
    let byteCount = 4 << Int(logarithm)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    let words = memory.initializeMemory(as: UInt32.self, repeating: 0, count: 1 << Int(logarithm))
    let secret = (workload.chance.bits(.day, 0) | 1, workload.chance.bits(.day, 1) | 1)
    filter = ek_filter(words: words, word_count_log2: logarithm, secret: secret)
    for number in numbers {
      ek_filter_add(&filter, workload.sighting(number).advertisement.identifier.bytes)
    }
  }

  deinit {
    filter.words.deallocate()
  }

  /// Asks for the first `count` of `identifiers`, 16 bytes each.
  func probe(_ tier: ek_tier, _ identifiers: [UInt8], _ count: Int) -> UInt64 {
    ek_bare_probe(tier, &filter, identifiers, count)
  }
}
