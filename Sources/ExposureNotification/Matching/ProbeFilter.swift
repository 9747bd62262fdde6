import CExposureKernels
import Secrets
import World

/// A blocked Bloom filter over the identifiers of one day. One to three in a thousand other identifiers
/// pass, and are then compared exactly.
///
/// Unchecked because of its pointer: the memory is written in `init` and only read afterwards.
package final class ProbeFilter: @unchecked Sendable {
  /// The filter for the C kernels; its memory lives as long as this object.
  package let filter: ek_filter

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

  /// The size of a filter for `count` identifiers in words, as a power of two.
  static func wordsLog2(for count: Int) -> Int {
    let words = max(count * MatchLimit.filterWordsPerIdentifier - 1, 1)
    let log2 = Int.bitWidth - words.leadingZeroBitCount
    let limits = MatchLimit.filterWordsLog2
    return min(max(log2, limits.lowerBound), limits.upperBound)
  }
}

/// A random key for the hash functions of filter and table.
///
/// Attackers choose the identifiers that a device receives. If they knew the secret, they could send
/// identifiers that collide and slow down every search.
package struct ProbeSecret: Sendable, Redacted {
  package static let byteCount = 32

  let filter: (UInt64, UInt64)
  let table: (UInt64, UInt64)

  /// Creates a secret from `byteCount` random bytes; missing bytes are zero.
  package init(bytes: [UInt8]) {
    func word(_ index: Int) -> UInt64 {
      bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
    filter = (word(0), word(1))
    table = (word(2), word(3))
  }
}

extension ProbeSecret {
  /// Creates a secret for one search.
  package init(from randomness: some Randomness) {
    self.init(bytes: randomness.bytes(Self.byteCount))
  }
}
