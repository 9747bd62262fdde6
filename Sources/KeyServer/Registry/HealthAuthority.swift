// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import QuietHTTP
import World

/// A health authority: it certifies keys for publication.
public struct HealthAuthority: Hashable, Sendable {
  /// The `iss` of its certificates, which identifies it.
  public var issuer: String
  /// The `aud` of its certificates: its name for this server.
  public var audience: String
  /// Its public keys in PEM (P-256, SubjectPublicKeyInfo), by key id.
  public var publicKeysPEM: [String: String]
  /// The address of its JSON Web Key Set; nil if its keys are added by hand.
  public var jwksURL: URL?
  /// True if it may read the statistics of its own uploads.
  public var seesStatistics: Bool

  /// An authority with `publicKeysPEM`, PEM by key id.
  public init(
    issuer: String, audience: String, publicKeysPEM: [String: String] = [:], jwksURL: URL? = nil,
    seesStatistics: Bool = false
  ) {
    self.issuer = issuer
    self.audience = audience
    self.publicKeysPEM = publicKeysPEM
    self.jwksURL = jwksURL
    self.seesStatistics = seesStatistics
  }
}

extension HealthAuthority {
  /// Validates the values of a configuration or a command.
  func checked() throws(KeyServerError) {
    guard !issuer.isEmpty, !audience.isEmpty else {
      throw .configuration("An authority needs an issuer and an audience.")
    }
    for (id, pem) in publicKeysPEM {
      do {
        _ = try P256.Signing.PublicKey(pemRepresentation: pem)
      } catch {
        throw .configuration("The key \(id) of \(issuer) must be a P-256 public key in PEM.")
      }
      guard !id.isEmpty else {
        throw .configuration("The key \(id) of \(issuer) must be a P-256 public key in PEM.")
      }
    }
    if let jwksURL, !jwksURL.isEncryptedOrLocal {
      throw .configuration(
        "The address of \(issuer)'s keys must begin with https (http only on this machine).")
    }
  }
}

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

/// A public key of an authority, with its validity.
struct AuthorityKey: Hashable, Sendable {
  let keyID: String
  let publicKeyPEM: String
  let goodFrom: Date
  /// The end of the validity; nil if unlimited.
  let goodUntil: Date?
  /// True if it was read from the authority's page.
  let isPulled: Bool
}

/// Merges new keys of an authority into its stored keys.
enum AuthorityKeyRule {
  /// Adds `keys`, PEM by id. A known key with the same id is replaced, and loses its end but not its start.
  static func adding(
    _ keys: [String: String], isPulled: Bool, to known: [AuthorityKey]
  ) -> [AuthorityKey] {
    let beginnings = Dictionary(known.map { ($0.keyID, $0.goodFrom) }) { $1 }
    let added = keys.map {
      AuthorityKey(
        keyID: $0.key, publicKeyPEM: $0.value,
        goodFrom: beginnings[$0.key] ?? Date(unixSecond: 0), goodUntil: nil,
        isPulled: isPulled)
    }
    return known.filter { keys[$0.keyID] == nil } + added
  }

  /// Merges `page`, PEM by id, which was read from the authority's page. Pulled keys that are not on it any more
  /// end at `end` unless they have an end, and are removed once it has passed. Keys added by hand stay.
  static func pulling(
    _ page: [String: String], into known: [AuthorityKey], at now: Date, othersEnd end: Date
  ) -> [AuthorityKey] {
    let kept = known.compactMap { key -> AuthorityKey? in
      guard key.isPulled, page[key.keyID] == nil else { return key }
      let until = key.goodUntil ?? end
      return until <= now ? nil : key.ending(at: until)
    }
    return adding(page, isPulled: true, to: kept)
  }
}

extension AuthorityKey {
  fileprivate func ending(at end: Date) -> AuthorityKey {
    AuthorityKey(
      keyID: keyID, publicKeyPEM: publicKeyPEM, goodFrom: goodFrom, goodUntil: end,
      isPulled: isPulled)
  }
}

/// The apps and authorities of the configuration or of the database.
struct RegistryEntries: Hashable, Sendable {
  var apps: [AuthorizedApp] = []
  var authorities: [HealthAuthority] = []
  /// The keys with a validity, by issuer.
  var keys: [String: [AuthorityKey]] = [:]
}
