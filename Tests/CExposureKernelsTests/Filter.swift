import CExposureKernels
import TestSupport

/// A filter and the memory of its words.
final class Filter {
  let filter: ek_filter

  init(wordsLog2: UInt32, holding identifiers: [[UInt8]] = [], secret: (UInt64, UInt64) = (0, 1)) {
    let count = 1 << Int(wordsLog2)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: max(64, count * 4), alignment: 64)
    let words = memory.initializeMemory(as: UInt32.self, repeating: 0, count: max(16, count))
    filter = ek_filter(words: words, word_count_log2: wordsLog2, secret: secret)
    for identifier in identifiers { add(identifier) }
  }

  /// One that takes everything for held.
  static func full() -> Filter {
    let full = Filter(wordsLog2: 4)
    for word in 0..<16 { full.filter.words[word] = .max }
    return full
  }

  func add(_ identifier: [UInt8]) {
    withUnsafePointer(to: filter) { ek_filter_add($0, identifier) }
  }

  func mayHold(_ identifier: [UInt8]) -> Bool {
    withUnsafePointer(to: filter) { ek_filter_may_hold($0, identifier) }
  }

  deinit { filter.words.deallocate() }
}
