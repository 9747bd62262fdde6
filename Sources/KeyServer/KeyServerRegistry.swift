import Crypto
import Foundation
import QuietHTTP

/// Writes apps and authorities into a key server's database, whether the server runs or not.
///
/// A server that runs takes notice within a minute. Documentation/KeyServer.md 8.
public struct KeyServerRegister: Sendable {
  private let store: any KeyStore

  /// Opens the database, or makes it.
  ///
  /// - Throws: `KeyServerError.database`.
  public init(databaseFile: URL) throws(KeyServerError) {
    do {
      store = try SQLiteKeyStore(file: databaseFile)
    } catch let error as KeyServerError {
      throw error
    } catch {
      throw .database
    }
  }

  /// Writes an authority down with its keys. One of the same issuer is replaced but keeps its other keys.
  ///
  /// - Throws: `.configuration` where a value is no good, `.unavailable` where it cannot be kept.
  public func add(_ authority: HealthAuthority) async throws(KeyServerError) {
    try authority.checked()
    try await kept { try await store.add(authority) }
  }

  /// Writes an app down. One of the same id is replaced.
  ///
  /// - Throws: `.configuration` where a value is no good or an authority is not known, `.unavailable` where
  ///   it cannot be kept.
  public func add(_ app: AuthorizedApp) async throws(KeyServerError) {
    try app.checked()
    let known = try await authorities().map(\.issuer)
    if let stranger = app.authorities.sorted().first(where: { !known.contains($0) }) {
      throw .configuration("The authority \(stranger) is not known: add it first.")
    }
    try await kept { try await store.add(app) }
  }

  /// The apps that were written down.
  public func apps() async throws(KeyServerError) -> [AuthorizedApp] {
    try await kept { try await store.registerEntries().apps }
  }

  /// The authorities that were written down, with the keys that are good without end.
  public func authorities() async throws(KeyServerError) -> [HealthAuthority] {
    try await kept {
      let entries = try await store.registerEntries()
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

  private func kept<Value: Sendable>(
    _ work: () async throws -> Value
  ) async throws(KeyServerError) -> Value {
    do { return try await work() } catch { throw .unavailable }
  }
}

extension HealthAuthority {
  /// Refuses values that no certificate could be checked with.
  func checked() throws(KeyServerError) {
    guard !issuer.isEmpty, !audience.isEmpty else {
      throw .configuration("An authority has an issuer and an audience.")
    }
    for (id, pem) in publicKeysPEM {
      guard !id.isEmpty, (try? P256.Signing.PublicKey(pemRepresentation: pem)) != nil else {
        throw .configuration("The key \(id) of \(issuer) must be a P-256 public key in PEM.")
      }
    }
    if let jwksURL, !jwksURL.isNeverPlain {
      throw .configuration(
        "The address of \(issuer)'s keys must begin with https (or be of http on this machine).")
    }
  }
}

extension AuthorizedApp {
  /// Refuses values that no upload could match.
  func checked() throws(KeyServerError) {
    guard !id.isEmpty else { throw .configuration("An app has an id.") }
    guard regions.allSatisfy(Self.isRegion) else {
      throw .configuration("A region is two upper-case letters.")
    }
  }
}
