import CExposureKernels

/// The processor instructions that the matcher's inner loops use. All tiers find the same matches.
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

  package static var fastest: MatchTier {
    allCases.first { $0.kernels == ek_fastest_tier() } ?? .portable
  }

  package static var available: [MatchTier] { allCases.filter(\.isAvailable) }

  package var isAvailable: Bool { ek_tier_is_available(kernels) }

  /// The number of identifiers per day at which both directions are equally fast.
  var reverseBreakEven: Int { ek_reverse_break_even(kernels) }

  /// The value for the C kernels.
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

/// The direction of the comparison. All directions find the same matches.
package enum MatchDirection: Sendable, CaseIterable {
  /// Chooses the faster direction for each day.
  case automatic
  /// Derives the key's identifiers and looks them up in the filter.
  case forward
  /// Decrypts every received identifier with the key and checks the padding.
  case reverse
}
