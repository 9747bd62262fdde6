/// An app that may publish here, for which regions, and with whose certificates.
///
/// Documentation/KeyServer.md 8.
public struct AuthorizedApp: Hashable, Sendable {
  /// `healthAuthorityID` of `/v1/publish`, `appPackageName` of the seed contract.
  public var id: String
  /// Where its keys count; empty takes `PublishConfiguration.defaultRegion`, and in the seed contract the
  /// region that is exported.
  public var regions: Set<String>
  /// The issuers whose certificates it may use.
  public var authorities: Set<String>

  /// An app that may publish.
  public init(id: String, regions: Set<String>, authorities: Set<String>) {
    self.id = id
    self.regions = regions
    self.authorities = authorities
  }
}

extension AuthorizedApp {
  /// Whether `text` is two upper-case letters, as ISO 3166-1 writes a country.
  static func isRegion(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}
