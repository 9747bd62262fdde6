import CExposureKernels

/// Which of the processor's instructions the matcher's inner loops use. All give the same matches.
///
/// Documentation/Matching.md 6.
package enum MatchTier: String, CaseIterable, Sendable {
  /// Plain C, on any processor.
  case portable
  /// x86-64 with AES-NI and SHA-NI.
  case aesniShani = "aesni-shani"
  /// x86-64 with 256-bit VAES and SHA-NI.
  case vaes256
  /// x86-64 with AVX-512 and VAES.
  case vaes512
  /// 64-bit ARM with its AES and SHA-256 instructions.
  case arm64

  /// The fastest that this processor has.
  package static var fastest: MatchTier {
    allCases.first { $0.kernels == ek_fastest_tier() } ?? .portable
  }

  /// Those that this processor has; never none.
  package static var available: [MatchTier] { allCases.filter(\.isAvailable) }

  /// Whether this processor has it.
  package var isAvailable: Bool { ek_tier_is_available(kernels) }

  /// How many identifiers heard around a day make both directions equally fast.
  var reverseBreakEven: Int { ek_reverse_break_even(kernels) }

  /// The same as the kernels name it.
  package var kernels: ek_tier {
    switch self {
    case .portable: EK_TIER_PORTABLE
    case .aesniShani: EK_TIER_AESNI_SHANI
    case .vaes256: EK_TIER_VAES256
    case .vaes512: EK_TIER_VAES512
    case .arm64: EK_TIER_ARM64
    }
  }
}

/// Which way a key and what was heard are brought together. Both give the same matches.
package enum MatchDirection: Sendable, CaseIterable {
  /// Whichever is faster for the day (Documentation/Matching.md 3).
  case automatic
  /// The key's identifiers are derived and looked for among those heard.
  case forward
  /// Each identifier heard is decrypted with the key and looked at.
  case reverse
}
