/// The region a phone belongs to.
///
/// Documentation/Framework.md 2.2.
public struct RegionConfiguration: Sendable {
  /// ISO 3166-1 (`PL`) or 3166-2 (`US-CA`).
  public let region: String

  /// This region.
  public init(region: String) {
    self.region = region
  }
}
