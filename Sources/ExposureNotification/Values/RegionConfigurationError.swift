// SPDX-License-Identifier: Apache-2.0
/// The reason why a region configuration file is rejected.
public struct RegionConfigurationError: Error, Hashable, Sendable {
  /// The kind of an error. Later versions may add kinds, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Kind: String {
      case unreadable, tooLarge, malformed, noRegion, severalRegions, notAPublicKey
    }

    fileprivate let kind: Kind

    /// The file cannot be read.
    public static let unreadable = Self(kind: .unreadable)
    /// More than 64 KiB or ten keys.
    public static let tooLarge = Self(kind: .tooLarge)
    /// The file is not JSON, or a field is missing.
    public static let malformed = Self(kind: .malformed)
    /// There is no entry or no valid country code.
    public static let noRegion = Self(kind: .noRegion)
    /// The entries name different regions.
    public static let severalRegions = Self(kind: .severalRegions)
    /// A key is not a P-256 public key.
    public static let notAPublicKey = Self(kind: .notAPublicKey)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of error.
  public let code: Code
  /// The version of the key that is not a P-256 public key, nil for the other codes.
  public let keyVersion: String?

  private init(_ code: Code, keyVersion: String? = nil) {
    self.code = code
    self.keyVersion = keyVersion
  }

  /// The file cannot be read.
  public static let unreadable = Self(.unreadable)
  /// More than 64 KiB or ten keys.
  public static let tooLarge = Self(.tooLarge)
  /// The file is not JSON, or a field is missing.
  public static let malformed = Self(.malformed)
  /// There is no entry or no valid country code.
  public static let noRegion = Self(.noRegion)
  /// The entries name different regions.
  public static let severalRegions = Self(.severalRegions)
  /// The key of this version is not a P-256 public key.
  public static func notAPublicKey(version: String) -> Self {
    Self(.notAPublicKey, keyVersion: version)
  }
}

extension RegionConfigurationError: CustomStringConvertible {
  /// The failure and what to do.
  public var description: String {
    switch code.kind {
    case .unreadable:
      "The region configuration cannot be read; check its path and permissions."
    case .tooLarge:
      "The region configuration has more than 64 KiB or ten keys; check that it is the right file."
    case .malformed:
      """
      The region configuration is not JSON with countryCode, regionIdentifier, publicKey and \
      publicKeyVersion; complete it.
      """
    case .noRegion:
      "The region configuration has no country code of two capital letters; set countryCode."
    case .severalRegions:
      "The region configuration names several regions; keep the entries of one."
    case .notAPublicKey:
      "The publicKey of version \(keyVersion ?? "") is not a P-256 public key; replace it."
    }
  }
}
