import GRDB

/// One row of `app_authority`: an app may use an issuer's certificates.
struct AppAuthorityRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "app_authority"

  var appID: String
  var issuer: String

  private enum CodingKeys: String, CodingKey {
    case appID = "app_id"
    case issuer
  }

  /// The rows of an app.
  static func of(_ app: String) -> QueryInterfaceRequest<AppAuthorityRow> {
    filter(Column("app_id") == app)
  }
}
