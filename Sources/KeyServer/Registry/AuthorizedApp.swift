// SPDX-License-Identifier: Apache-2.0
/// An app that may upload keys, with its regions and authorities.
public struct AuthorizedApp: Hashable, Sendable {
  /// The `healthAuthorityID` of `/v1/publish`, the `appPackageName` of the ProteGO Safe contract.
  public var id: String
  /// The regions of its keys. If empty, `PublishConfiguration.defaultRegion`, and for uploads of the ProteGO
  /// Safe contract the exported region.
  public var regions: Set<String>
  /// The issuers of the certificates that it may use.
  public var authorities: Set<String>

  /// An app with the id `id`.
  public init(id: String, regions: Set<String>, authorities: Set<String>) {
    self.id = id
    self.regions = regions
    self.authorities = authorities
  }
}

extension AuthorizedApp {
  func checked() throws(KeyServerError) {
    guard !id.isEmpty else { throw .configuration("An app needs an id.") }
    if let fault = Self.fault(inRegions: regions) {
      throw .configuration("The app \(id): \(fault)")
    }
  }

  /// True if `text` is two upper-case letters, as in ISO 3166-1.
  package static func isRegion(_ text: String) -> Bool {
    text.utf8.count == 2
      && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }

  /// The first of `regions` that is not a region, as a sentence; nil if there is none.
  static func fault(inRegions regions: Set<String>) -> String? {
    regions.sorted().first { !isRegion($0) }.map {
      "A region is two upper-case letters, such as PL, and '\($0)' is not."
    }
  }
}
