import CExposureKernels

extension DayPlan {
  /// Searches for keys of `scratch` from place `start` on, `count` at most; candidates go into
  /// `scratch.candidates`, numbered from `start`. Returns how many there are; `keysDone` is for how many
  /// keys that is all.
  func candidates(
    in scratch: MatchScratch, from start: Int, count: Int, _ tier: MatchTier,
    keysDone: inout Int
  ) -> Int {
    let keys = UnsafeRawPointer(scratch.keys + start).assumingMemoryBound(to: UInt8.self)
    let (first, length) = (scratch.first + start, scratch.length + start)
    switch self {
    case .forward(let probe):
      // The filter's words live as long as `probe`.
      return withExtendedLifetime(probe) {
        var filter = probe.filter
        return ek_match_forward(
          tier.kernels, keys, first, length, count, &filter, scratch.candidates,
          MatchLimit.candidates, &keysDone)
      }
    case .reverse(let identifiers):
      return identifiers.withUnsafeBytes { heard in
        ek_match_reverse(
          tier.kernels, keys, first, length, count,
          heard.baseAddress?.assumingMemoryBound(to: UInt8.self), identifiers.count,
          scratch.candidates, MatchLimit.candidates, &keysDone)
      }
    }
  }
}

extension ek_candidate {
  /// The identifier in two words, as memory holds it.
  var words: (UInt64, UInt64) {
    withUnsafeBytes(of: identifier) { bytes in
      (
        bytes.loadUnaligned(as: UInt64.self),
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }
}
