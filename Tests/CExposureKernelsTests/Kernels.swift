import CExposureKernels

/// One tier's functions with arrays in and out.
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

  /// Candidates of all keys, in as many calls as the room for candidates makes of it; `calls` is told how
  /// many each wrote.
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
    _ keys: [PublishedKey], heard: [[UInt8]], capacity: Int = Int(EK_CANDIDATES_MIN)
  ) -> [Candidate] {
    let flat = heard.flatMap { $0 }
    return resume(keys, capacity: capacity, calls: { _ in }) {
      bytes, first, length, count, out, done in
      ek_match_reverse(
        tier, bytes, first, length, count, flat, heard.count, out, capacity, done)
    }
  }

  private typealias Call = (
    [UInt8], [UInt32], [UInt16], Int, UnsafeMutablePointer<ek_candidate>?,
    UnsafeMutablePointer<Int>
  ) -> Int

  /// Calls until every key is done, or a call does none.
  private func resume(
    _ keys: [PublishedKey], capacity: Int, calls: (Int) -> Void, _ call: Call
  ) -> [Candidate] {
    var found: [Candidate] = []
    var done = 0
    // One place more than the kernel may fill, to see that it stays empty.
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
