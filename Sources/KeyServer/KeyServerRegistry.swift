import Foundation

/// Stores apps and authorities in a key server's database, while the server runs or not.
///
/// A running server reads the changes within a minute.
public struct KeyServerRegistry: Sendable {
  private let store: any KeyStore

  /// Opens the database, or creates it.
  ///
  /// - Throws: `KeyServerError.database`, or `.newerDatabase` if a newer version has migrated it.
  public init(databaseFile: URL) throws(KeyServerError) {
    store = try KeyServerComposition.store(at: databaseFile)
  }

  /// Adds an authority with its keys. One of the same issuer is replaced, but keeps its other keys.
  ///
  /// - Throws: `.configuration` if a value is invalid, `.unavailable` if it cannot be stored.
  public func add(_ authority: HealthAuthority) async throws(KeyServerError) {
    try authority.checked()
    try await storing { try await store.add(authority) }
  }

  /// Adds an app. One of the same id is replaced.
  ///
  /// - Throws: `.configuration` if a value is invalid or an authority is unknown, `.unavailable` if it cannot
  ///   be stored.
  public func add(_ app: AuthorizedApp) async throws(KeyServerError) {
    try app.checked()
    let known = try await authorities().map(\.issuer)
    if let unknown = app.authorities.sorted().first(where: { !known.contains($0) }) {
      throw .configuration("The authority \(unknown) is unknown: add it first.")
    }
    try await storing { try await store.add(app) }
  }

  /// The stored apps.
  public func apps() async throws(KeyServerError) -> [AuthorizedApp] {
    try await storing { try await store.registryEntries().apps }
  }

  /// The stored authorities, with the keys that have no end.
  public func authorities() async throws(KeyServerError) -> [HealthAuthority] {
    try await storing {
      let entries = try await store.registryEntries()
      return entries.authorities.map { authority in
        var authority = authority
        let keys = (entries.keys[authority.issuer] ?? []).filter { $0.goodUntil == nil }
        authority.publicKeysPEM = Dictionary(
          keys.map { ($0.keyID, $0.publicKeyPEM) }
        ) { $1 }
        return authority
      }
    }
  }

  private func storing<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws(KeyServerError) -> Value {
    do { return try await work() } catch { throw .unavailable }
  }
}
