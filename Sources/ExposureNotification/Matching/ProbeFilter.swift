import CExposureKernels
import Secrets
import World

/// What was heard around one day, as a blocked Bloom filter: it never misses an identifier, and lets
/// one to three in a thousand others through, which are then compared exactly.
///
/// Not Sendable by its pointer: the words are written in `init` and only read afterwards.
package final class ProbeFilter: @unchecked Sendable {
  /// For the kernels; its words live as long as this.
  package let filter: ek_filter

  /// A filter of `identifiers`, 16 bytes each.
  package init(_ identifiers: [(UInt64, UInt64)], secret: ProbeSecret) {
    let log2 = Self.wordsLog2(for: identifiers.count)
    let words = UnsafeMutablePointer<UInt32>(
      OpaquePointer(UnsafeMutableRawPointer.allocate(byteCount: 4 << log2, alignment: 64)))
    words.initialize(repeating: 0, count: 1 << log2)
    var filter = ek_filter(
      words: words, word_count_log2: UInt32(log2), secret: (secret.filter.0, secret.filter.1))
    identifiers.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
      for index in identifiers.indices { ek_filter_add(&filter, start + 16 * index) }
    }
    self.filter = filter
  }

  deinit {
    filter.words.deallocate()
  }

  /// The size of a filter of `count` identifiers, in words, as a power of two.
  static func wordsLog2(for count: Int) -> Int {
    let wanted = max(count * MatchLimit.filterWordsPerIdentifier - 1, 1)
    let log2 = Int.bitWidth - wanted.leadingZeroBitCount
    let limits = MatchLimit.filterWordsLog2
    return min(max(log2, limits.lowerBound), limits.upperBound)
  }
}

/// Numbers that nobody outside this run knows, which decide where an identifier lies in the matcher's
/// tables.
///
/// Strangers choose what a phone hears. Without a secret they could send identifiers that all fall
/// into one place, and make every search crawl (Documentation/Matching.md 5.1).
package struct ProbeSecret: Sendable, Redacted {
  /// How many random bytes a secret takes.
  package static let byteCount = 32

  let filter: (UInt64, UInt64)
  let table: (UInt64, UInt64)

  /// The secret of `bytes`, which come from the `Randomness` of the phone; missing ones are zero.
  package init(bytes: [UInt8]) {
    func word(_ index: Int) -> UInt64 {
      bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    filter = (word(0), word(1))
    table = (word(2), word(3))
  }
}

extension ProbeSecret {
  /// A secret drawn from `randomness`, for one search.
  package init(from randomness: some Randomness) {
    self.init(bytes: randomness.bytes(Self.byteCount))
  }
}
