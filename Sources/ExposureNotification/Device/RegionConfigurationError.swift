/// Why a region configuration file was refused.
public enum RegionConfigurationError: Error, Equatable, Sendable {
  /// The file cannot be read.
  case unreadable
  /// More bytes or keys than a region has.
  case tooLarge
  /// Not JSON, or a field is missing.
  case malformed
  /// No entry, or no country.
  case noRegion
  /// The entries name different regions.
  case severalRegions
  /// The key of this version is no P-256 public key.
  case notAPublicKey(version: String)
}

extension RegionConfigurationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable:
      "The region configuration cannot be read; check its path and rights."
    case .tooLarge:
      "The region configuration is larger than any region's; check that it is the right file."
    case .malformed:
      """
      The region configuration is not JSON with countryCode, regionIdentifier, publicKey and \
      publicKeyVersion; complete it.
      """
    case .noRegion:
      "The region configuration names no country of two capital letters; set countryCode."
    case .severalRegions:
      "The region configuration names several regions; keep the entries of one."
    case .notAPublicKey(let version):
      "The publicKey of version \(version) is no P-256 public key; replace it."
    }
  }
}
