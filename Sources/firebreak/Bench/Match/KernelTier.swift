import ArgumentParser
import CExposureKernels

/// Which of the processor's instructions match.
enum KernelTier: String, CaseIterable, ExpressibleByArgument, Encodable {
  case portable
  case aesniShani = "aesni-shani"
  case vaes256
  case vaes512
  case arm64

  /// The tier as the kernels know it.
  var kernel: ek_tier {
    switch self {
    case .portable: EK_TIER_PORTABLE
    case .aesniShani: EK_TIER_AESNI_SHANI
    case .vaes256: EK_TIER_VAES256
    case .vaes512: EK_TIER_VAES512
    case .arm64: EK_TIER_ARM64
    }
  }

  /// Whether this machine has it.
  var isAvailable: Bool { ek_tier_is_available(kernel) }

  /// The best that this machine has.
  static var fastest: KernelTier {
    allCases.first { $0.kernel == ek_fastest_tier() } ?? .portable
  }

  /// Itself, or a refusal that names what this machine has.
  func available() throws -> KernelTier {
    guard !isAvailable else { return self }
    let names = Self.allCases.filter(\.isAvailable).map(\.rawValue).joined(separator: ", ")
    throw CommandFailure.badInput(
      "This machine does not have the tier \(rawValue): take one of \(names).")
  }
}
