import DiagnosisKeyFile
import Foundation

/// The region a phone belongs to, and whose signatures it trusts.
///
/// Documentation/Framework.md 2.2.
public struct RegionConfiguration: Sendable {
  /// ISO 3166-1 (`PL`) or 3166-2 (`US-CA`).
  public let region: String
  /// The keys of the region's authority; a key file must be signed by one of them.
  public let keys: [VerificationPublicKey]

  /// A region with these keys.
  public init(region: String, keys: [VerificationPublicKey]) {
    self.region = region
    self.keys = keys
  }

  /// Reads a region configuration file: one object with Apple's field names, or a list of them where
  /// the authority has several keys.
  ///
  /// - Throws: `RegionConfigurationError`.
  public init(json: Data) throws(RegionConfigurationError) {
    let stored = try StoredRegion.list(from: json)
    guard let first = stored.first, let region = first.region else { throw .noRegion }
    var keys: [VerificationPublicKey] = []
    for entry in stored {
      guard entry.region == region else { throw .severalRegions }
      keys.append(try entry.key)
    }
    self.init(region: region, keys: keys)
  }

  /// Reads a region configuration file.
  ///
  /// - Throws: `RegionConfigurationError`.
  public init(contentsOf file: URL) throws(RegionConfigurationError) {
    guard let json = try? Data(contentsOf: file) else { throw .unreadable }
    try self.init(json: json)
  }
}
