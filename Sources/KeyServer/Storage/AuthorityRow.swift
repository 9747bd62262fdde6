import Foundation
import GRDB

/// One row of `authority`. Its keys have a table of their own.
struct AuthorityRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "authority"

  var issuer: String
  var audience: String
  var jwksURL: String?
  var seesStatistics: Bool

  private enum CodingKeys: String, CodingKey {
    case issuer, audience
    case jwksURL = "jwks_url"
    case seesStatistics = "sees_statistics"
  }

  init(_ authority: HealthAuthority) {
    issuer = authority.issuer
    audience = authority.audience
    jwksURL = authority.jwksURL?.absoluteString
    seesStatistics = authority.seesStatistics
  }

  /// What the row says.
  var authority: HealthAuthority {
    HealthAuthority(
      issuer: issuer, audience: audience, jwksURL: jwksURL.flatMap { URL(string: $0) },
      seesStatistics: seesStatistics)
  }
}
