import GRDB

/// One row of `app`. Regions are comma-separated and sorted; whose certificates it may use stands in
/// `app_authority`.
struct AppRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "app"

  var id: String
  var regions: String

  init(_ app: AuthorizedApp) {
    id = app.id
    regions = app.regions.sorted().joined(separator: ",")
  }

  /// What the row says, with the `issuers` of the other table.
  func app(issuers: [String]) -> AuthorizedApp {
    AuthorizedApp(
      id: id, regions: Set(regions.split(separator: ",").map(String.init)),
      authorities: Set(issuers))
  }
}
