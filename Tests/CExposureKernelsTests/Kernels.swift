// SPDX-License-Identifier: Apache-2.0
import CExposureKernels
import TestSupport

/// One tier's functions with arrays as arguments and results.
struct Kernels: CustomStringConvertible {
  let tier: ek_tier

  static let portable = Kernels(tier: EK_TIER_PORTABLE)

  /// Every tier that this machine has.
  static let available = [
    EK_TIER_PORTABLE, EK_TIER_AESNI_SHANI, EK_TIER_VAES256, EK_TIER_VAES512, EK_TIER_ARM64,
  ].filter(ek_tier_is_available).map(Kernels.init)

  var description: String { "tier \(tier.rawValue)" }

  func identifierKeys(of keys: [[UInt8]]) -> [[UInt8]] {
    var derived = [UInt8](repeating: 0, count: keys.count * 16)
    ek_identifier_keys(tier, keys.flatMap { $0 }, keys.count, &derived)
    return stride(from: 0, to: derived.count, by: 16).map { Array(derived[$0..<$0 + 16]) }
  }

  func identifiers(of identifierKey: [UInt8], first: UInt32, count: Int) -> [[UInt8]] {
    var derived = [UInt8](repeating: 0, count: count * 16)
    ek_identifiers(tier, identifierKey, first, UInt32(count), &derived)
    return stride(from: 0, to: derived.count, by: 16).map { Array(derived[$0..<$0 + 16]) }
  }

  /// The candidates of all keys, in as many calls as `capacity` requires; `calls` gets the number of each.
  func forward(
    _ keys: [PublishedKey], _ filter: Filter, capacity: Int = Int(EK_CANDIDATES_MIN),
    calls: (Int) -> Void = { _ in }
  ) -> [Candidate] {
    resume(keys, capacity: capacity, calls: calls) { bytes, first, length, count, out, done in
      withUnsafePointer(to: filter.filter) {
        ek_match_forward(tier, bytes, first, length, count, $0, out, capacity, done)
      }
    }
  }

  /// The same in reverse.
  func reverse(
    _ keys: [PublishedKey], received: [[UInt8]], capacity: Int = Int(EK_CANDIDATES_MIN)
  ) -> [Candidate] {
    let flat = received.flatMap { $0 }
    return resume(keys, capacity: capacity, calls: { _ in }) {
      bytes, first, length, count, out, done in
      ek_match_reverse(
        tier, bytes, first, length, count, flat, received.count, out, capacity, done)
    }
  }

  private typealias Call = (
    [UInt8], [UInt32], [UInt16], Int, UnsafeMutablePointer<ek_candidate>?,
    UnsafeMutablePointer<Int>
  ) -> Int

  /// Repeats the call until every key is done, or a call makes no progress.
  private func resume(
    _ keys: [PublishedKey], capacity: Int, calls: (Int) -> Void, _ call: Call
  ) -> [Candidate] {
    var found: [Candidate] = []
    var done = 0
    // One element more than the kernel may write, to check that it stays empty.
    var room = [ek_candidate](repeating: ek_candidate(), count: capacity + 1)
    while done < keys.count {
      let rest = keys[done...]
      var finished = 0
      let written = room.withUnsafeMutableBufferPointer {
        call(
          rest.flatMap(\.bytes), rest.map(\.first), rest.map(\.length), rest.count, $0.baseAddress,
          &finished)
      }
      calls(written)
      precondition(room[capacity].key_index == 0, "wrote behind the room for candidates")
      found += room[..<written].map { Candidate($0, shiftedBy: done) }
      if finished == 0 { break }
      done += finished
    }
    return found
  }
}

/// A key as a kernel takes it.
struct PublishedKey {
  let bytes: [UInt8]
  let first: UInt32
  let length: UInt16

  /// Keys with periods of a day or less, from the same few weeks.
  static func random(
    _ count: Int, from chance: inout SeededGenerator, length: ClosedRange<UInt16> = 0...144
  ) -> [PublishedKey] {
    (0..<count).map { _ in
      PublishedKey(
        bytes: bytes(16, from: &chance), first: .random(in: 2_600_000...2_650_000, using: &chance),
        length: .random(in: length, using: &chance))
    }
  }

  /// Random bytes.
  static func bytes(_ count: Int, from chance: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in .random(in: .min ... .max, using: &chance) }
  }
}

/// A candidate as a comparable value.
struct Candidate: Hashable {
  let key: Int
  let interval: UInt32
  let identifier: [UInt8]

  init(key: Int, interval: UInt32, identifier: [UInt8]) {
    self.key = key
    self.interval = interval
    self.identifier = identifier
  }

  init(_ candidate: ek_candidate, shiftedBy done: Int) {
    key = Int(candidate.key_index) + done
    interval = candidate.interval
    identifier = withUnsafeBytes(of: candidate.identifier) { Array($0) }
  }
}

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

  /// A filter that holds everything.
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
