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
    guard let issuer = registry.ignoredIssuers.first else { return nil }
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
      issuer: configuration.tokenIssuer,
      entries: configuration.registryEntries(tokenKeys),
      tokens: try UploadTokenVerifier(
        issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
        publicKeysPEM: tokenKeys))
  }
}
