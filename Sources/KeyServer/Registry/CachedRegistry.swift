// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Crypto
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import QuietHTTP
import Synchronization
import UploadToken
import World

/// Caches the registry, and reads it again when the cached one is too old.
final class CachedRegistry: Sendable {
  private let configured: @Sendable () -> ConfiguredRegistry
  private let store: any KeyStore
  private let clock: any WallClock
  private let latest = Mutex<(registry: Registry, readAt: Date)?>(nil)

  /// Combines `configured` and `store` at every read.
  init(
    configured: @escaping @Sendable () -> ConfiguredRegistry, store: any KeyStore,
    clock: any WallClock
  ) {
    self.configured = configured
    self.store = store
    self.clock = clock
  }

  /// The registry, at most `KeyServerLimit.registryAgeSecondsMax` old.
  func registry() async throws -> Registry {
    try await registry(atMost: KeyServerLimit.registryAgeSecondsMax)
  }

  /// The registry for a token with an unknown key: read again, unless that was done within the last second.
  func registryForUnknownKey() async throws -> Registry {
    try await registry(atMost: KeyServerLimit.registryAgeSecondsMaxForUnknownKey)
  }

  private func registry(atMost ageSeconds: TimeInterval) async throws -> Registry {
    let now = clock.now
    let cached = latest.withLock { $0 }
    if let cached, cached.readAt <= now, now.timeIntervalSince(cached.readAt) < ageSeconds {
      return cached.registry
    }
    let registry = Registry(configured: configured(), stored: try await store.registryEntries())
    latest.withLock { $0 = (registry, now) }
    return registry
  }

  /// Drops the cached registry, after the stored one has changed.
  func invalidate() {
    latest.withLock { $0 = nil }
  }
}

/// All apps and authorities that are known at one moment, with verifiers for their keys.
struct Registry: Sendable {
  let apps: [String: AuthorizedApp]
  let authorities: [String: HealthAuthority]
  let certificates: CertificateVerifier
  let tokens: UploadTokenVerifier
  private let keys: [String: [AuthorityKey]]

  /// The entries of the configuration and of the database together. Unreadable keys are left out.
  init(configured: ConfiguredRegistry, stored: RegistryEntries) {
    tokens = configured.tokens
    let configured = configured.entries
    apps = Dictionary((configured.apps + stored.apps).map { ($0.id, $0) }) { one, other in
      AuthorizedApp(
        id: one.id, regions: one.regions.union(other.regions),
        authorities: one.authorities.union(other.authorities))
    }
    let all = configured.authorities + stored.authorities
    let known = Dictionary(all.map { ($0.issuer, $0) }) { $1 }
    authorities = known
    let keys = known.mapValues { authority in
      authority.publicKeysPEM.map {
        AuthorityKey(
          keyID: $0.key, publicKeyPEM: $0.value, goodFrom: .distantPast, goodUntil: nil,
          isPulled: false)
      } + (stored.keys[authority.issuer] ?? [])
    }
    self.keys = keys
    certificates = CertificateVerifier(
      authorities: known.values.map { Self.authority($0, keys: keys[$0.issuer] ?? []) })
  }

  private static func authority(
    _ authority: HealthAuthority, keys: [AuthorityKey]
  ) -> CertificateAuthority {
    keys.reduce(CertificateAuthority(issuer: authority.issuer, audience: authority.audience)) {
      authority, key in
      // Keys are checked before they are stored; a damaged one is left out, so that the others stay valid.
      let more = try? authority.adding(
        keyID: key.keyID, publicKeyPEM: key.publicKeyPEM, from: key.goodFrom,
        until: key.goodUntil ?? .distantFuture)
      return more ?? authority
    }
  }

  /// The key of `issuer` with that id, if it is valid at `now`.
  func key(_ keyID: String, of issuer: String, at now: Date) -> P256.Signing.PublicKey? {
    let key = keys[issuer]?.last {
      $0.keyID == keyID && $0.goodFrom <= now && now < ($0.goodUntil ?? .distantFuture)
    }
    // As above: a damaged key verifies nothing.
    return key.flatMap { try? P256.Signing.PublicKey(pemRepresentation: $0.publicKeyPEM) }
  }
}

/// The apps and authorities of the configuration.
struct ConfiguredRegistry: Sendable {
  let entries: RegistryEntries
  let tokens: UploadTokenVerifier
}

/// The public keys of upload tokens, read again whenever the registry is.
///
/// If they cannot be read, the known keys stay valid.
final class TokenKeySource: Sendable {
  private let configuration: KeyServerConfiguration
  private let logger: Logger
  private let latest: Mutex<ConfiguredRegistry>

  /// - Throws: `KeyServerError.configuration` if a key of the configuration is invalid.
  init(_ configuration: KeyServerConfiguration, logger: Logger) throws(KeyServerError) {
    self.configuration = configuration
    self.logger = logger
    do {
      latest = Mutex(
        try Self.configured(configuration, tokenKeys: configuration.tokenPublicKeysPEM))
    } catch {
      throw .configuration("tokenPublicKeysPEM must hold P-256 public keys.")
    }
  }

  /// The apps and authorities of the configuration, with the current keys.
  func configured() -> ConfiguredRegistry {
    guard let read = configuration.readTokenPublicKeysPEM else { return latest.withLock { $0 } }
    do {
      let keys = try read()
      guard !keys.isEmpty else { throw SigningKeysError.noKey }
      let new = try Self.configured(configuration, tokenKeys: keys)
      latest.withLock { $0 = new }
    } catch {
      logger.warning(
        "token keys not read; the known keys stay valid: check the file of public keys",
        metadata: ["cause": "\(ErrorCause.text(error))"])
    }
    return latest.withLock { $0 }
  }

  private static func configured(
    _ configuration: KeyServerConfiguration, tokenKeys: [String: String]
  ) throws -> ConfiguredRegistry {
    ConfiguredRegistry(
      entries: configuration.registryEntries(tokenKeys),
      tokens: try UploadTokenVerifier(
        issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
        publicKeysPEM: tokenKeys))
  }
}

/// Reads the pages on which authorities publish their keys (JWKS), and stores the changes.
///
/// A page that cannot be read changes nothing: the known keys stay valid.
struct AuthorityKeyPull: Sendable {
  let registry: CachedRegistry
  let store: any KeyStore
  var client = HTTPClient.withoutRedirects
  let timeoutSeconds: Int64
  let clock: any WallClock
  let logger: Logger

  /// Reads every page once.
  func pullAll() async throws {
    for authority in try await registry.registry().authorities.values {
      guard let url = authority.jwksURL else { continue }
      guard let keys = await keys(at: url) else {
        logger.warning(
          "authority keys not read; the known keys stay valid: check the authority's jwksURL")
        continue
      }
      let now = clock.now
      try await store.replacePulledKeys(
        of: authority.issuer, with: keys, at: now,
        othersEnd: now.addingTimeInterval(KeyServerLimit.pulledKeyAfterlifeSeconds))
    }
    registry.invalidate()
  }

  /// Reads the pages periodically until the task is cancelled.
  func pullForever() async {
    while !Task.isCancelled {
      do { try await pullAll() } catch {
        // A shutdown is not an error.
        if Task.isCancelled { return }
        logger.error(
          "authority keys not stored; retrying in an hour",
          metadata: KeyServerError.metadata(of: error))
      }
      let next = clock.now.addingTimeInterval(KeyServerLimit.keyPullSeconds)
      do { try await clock.sleep(until: next) } catch { return }
    }
  }

  /// The keys of one page in PEM, by id; nil if it cannot be read or has no usable key.
  private func keys(at url: URL) async -> [String: String]? {
    do {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.headers.add(name: "accept", value: "application/json")
      let response = try await client.execute(
        request, timeout: .seconds(timeoutSeconds))
      guard response.status == .ok else { return nil }
      let body = try await response.body.collect(upTo: KeyServerLimit.keyPageBytesMax)
      let set = try JSONDecoder().decode(
        JSONWebKeySet.self, from: Data(body.readableBytesView))
      let keys = set.publicKeysPEM
      // An empty key set is more likely an error than a revocation of all keys.
      return (1...KeyServerLimit.pulledKeysMax).contains(keys.count) ? keys : nil
    } catch {
      return nil
    }
  }
}
