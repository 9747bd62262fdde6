// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import QuietHTTP
import Synchronization
import UploadToken
import World

/// Caches the registry, and reads it again when the cached one is too old.
final class CachedRegistry: Sendable {
  private let configured: @Sendable () -> ConfiguredRegistry
  private let store: any KeyStore
  private let clock: any WallClock
  private let reportFault: @Sendable (_ fault: String?) -> Void
  private let latest = Mutex(Latest())

  private struct Latest {
    var cached: (registry: Registry, readAt: Date)?
    /// The last read because of an unknown key.
    var unknownKeyReadAt: Date?
  }

  /// Combines `configured` and `store` at every read.
  ///
  /// - Parameter reportFault: Takes the fault of the stored entries in one sentence, or nil if they have none.
  init(
    configured: @escaping @Sendable () -> ConfiguredRegistry, store: any KeyStore,
    clock: any WallClock, reportFault: @escaping @Sendable (_ fault: String?) -> Void = { _ in }
  ) {
    self.configured = configured
    self.store = store
    self.clock = clock
    self.reportFault = reportFault
  }

  /// The registry, at most `KeyServerLimit.registryAgeSecondsMax` old.
  func registry() async throws -> Registry {
    let now = clock.now
    if let cached = latest.withLock({ $0.cached }), cached.readAt <= now,
      now.timeIntervalSince(cached.readAt) < KeyServerLimit.registryAgeSecondsMax
    {
      return cached.registry
    }
    return try await read(at: now)
  }

  /// The registry for a token with an unknown key: read again, unless that was done for another unknown key within
  /// the last second. A read for another reason does not count, because the key may have been added after it.
  func registryForUnknownKey() async throws -> Registry {
    let now = clock.now
    let (cached, readAt) = latest.withLock { ($0.cached, $0.unknownKeyReadAt) }
    if let cached, let readAt, readAt <= now,
      now.timeIntervalSince(readAt) < KeyServerLimit.unknownKeyReadSecondsMin
    {
      return cached.registry
    }
    let registry = try await read(at: now)
    // Only after the read: a second request with the new key must not get the registry from before it.
    latest.withLock { $0.unknownKeyReadAt = now }
    return registry
  }

  private func read(at now: Date) async throws -> Registry {
    let registry = Registry(configured: configured(), stored: try await store.registryEntries())
    latest.withLock { $0.cached = (registry, now) }
    reportFault(Self.fault(of: registry))
    return registry
  }

  private static func fault(of registry: Registry) -> String? {
    guard let issuer = registry.ignoredIssuers.first else {
      return registry.limitedApps.first.map {
        "The stored app \($0) has the id, a region or the authority of a realm, and may not upload with them: remove it"
          + " with `firebreak key-server app remove`, or change it with `add`."
      }
    }
    return
      "The stored authority \(issuer) has the issuer of this server's own configuration and is ignored:"
      + " remove it with `firebreak key-server authority remove`."
  }

  /// Drops the cached registry, after the stored one has changed.
  func invalidate() {
    latest.withLock { $0.cached = nil }
  }
}

/// The public keys of upload tokens, read again whenever the registry is.
///
/// If those of an authority cannot be read, its known keys stay valid.
final class TokenKeySource: Sendable {
  private let configuration: KeyServerConfiguration
  private let logger: Logger
  private let latest: Mutex<Latest>

  private struct Latest {
    /// By issuer.
    var keys: [String: [String: String]]
    var registry: ConfiguredRegistry
  }

  /// - Throws: `KeyServerError.configuration` if a key of the configuration is invalid.
  init(_ configuration: KeyServerConfiguration, logger: Logger) throws(KeyServerError) {
    self.configuration = configuration
    self.logger = logger
    let keys = Dictionary(
      configuration.tokenAuthorities.map { ($0.issuer, $0.publicKeysPEM) }
    ) { first, _ in first }
    do {
      latest = Mutex(
        Latest(keys: keys, registry: try Self.configured(configuration, tokenKeys: keys)))
    } catch {
      throw .configuration("tokenPublicKeysPEM must hold P-256 public keys.")
    }
  }

  /// The apps and authorities of the configuration, with the current keys.
  func configured() -> ConfiguredRegistry {
    let known = latest.withLock { $0 }
    let keys = currentKeys(known.keys)
    guard keys != known.keys else { return known.registry }
    do {
      let new = try Self.configured(configuration, tokenKeys: keys)
      latest.withLock { $0 = Latest(keys: keys, registry: new) }
      return new
    } catch {
      // `currentKeys` has read each of them as a key.
      return known.registry
    }
  }

  /// The keys that are read now, and the known ones of each authority whose keys cannot be read.
  private func currentKeys(_ known: [String: [String: String]]) -> [String: [String: String]] {
    var keys = known
    for authority in configuration.tokenAuthorities {
      guard let read = authority.readPublicKeysPEM else { continue }
      do {
        let new = try read()
        guard !new.isEmpty else { throw SigningKeysError.noKey }
        _ = try UploadTokenVerifier(authority, keys: new)
        keys[authority.issuer] = new
      } catch {
        logger.warning(
          "token keys not read; the known keys stay valid: check the file of public keys",
          metadata: ["issuer": "\(authority.issuer)", "cause": "\(ErrorCause.text(error))"])
      }
    }
    return keys
  }

  private static func configured(
    _ configuration: KeyServerConfiguration, tokenKeys: [String: [String: String]]
  ) throws -> ConfiguredRegistry {
    let authorities = configuration.tokenAuthorities
    return ConfiguredRegistry(
      issuer: configuration.tokenIssuer, realms: configuration.realms,
      entries: configuration.registryEntries(tokenKeys),
      tokens: try TokenVerifiers(
        authorities.map { authority in
          let keys = tokenKeys[authority.issuer] ?? [:]
          return (authority.issuer, try UploadTokenVerifier(authority, keys: keys))
        }))
  }
}

/// The verifiers of the upload tokens of all authorities.
struct TokenVerifiers: Sendable {
  /// The verifier of the tokens of one issuer.
  struct Entry: Sendable {
    let issuer: String
    let verifier: UploadTokenVerifier
  }

  private let first: Entry
  /// The verifiers of the realms.
  private let others: [String: Entry]

  /// - Throws: If there is no verifier, which is a programming error.
  fileprivate init(_ verifiers: [(issuer: String, verifier: UploadTokenVerifier)]) throws {
    let entries = verifiers.map { Entry(issuer: $0.issuer, verifier: $0.verifier) }
    guard let first = entries.first else { throw SigningKeysError.noKey }
    self.first = first
    others = Dictionary(entries.dropFirst().map { ($0.issuer, $0) }) { first, _ in first }
  }

  /// The verifier of the issuer that the token `text` names; for an unknown issuer and for other text, that of the
  /// configuration, which then refuses it.
  func entry(for text: String) -> Entry {
    guard !others.isEmpty else { return first }
    // The verifier refuses text that is no token.
    let token = try? CompactToken(text)
    return token?.hint(IssuerClaim.self).flatMap { others[$0.iss] } ?? first
  }

  private struct IssuerClaim: Decodable {
    let iss: String
  }
}

extension UploadTokenVerifier {
  fileprivate init(_ authority: TokenAuthority, keys: [String: String]) throws {
    try self.init(issuer: authority.issuer, audience: authority.audience, publicKeysPEM: keys)
  }
}
