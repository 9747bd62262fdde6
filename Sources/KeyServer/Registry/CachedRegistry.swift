import Crypto
import Foundation
import Logging
import Synchronization
import UploadToken
import World

/// Hands out the register, and reads it anew when it has become old.
final class RegisterDesk: Sendable {
  private let configured: @Sendable () -> ConfiguredRegister
  private let store: any KeyStore
  private let clock: any WallClock
  private let latest = Mutex<(register: Register, readAt: Date)?>(nil)

  /// Asks `configured` and `store` whenever it reads.
  init(
    configured: @escaping @Sendable () -> ConfiguredRegister, store: any KeyStore,
    clock: any WallClock
  ) {
    self.configured = configured
    self.store = store
    self.clock = clock
  }

  /// The register, at most `KeyServerLimit.registerAgeSecondsMax` old.
  func register() async throws -> Register {
    try await register(atMost: KeyServerLimit.registerAgeSecondsMax)
  }

  /// The register, read anew for somebody who names a key that is not in it, unless that was just done.
  func registerForUnknownKey() async throws -> Register {
    try await register(atMost: KeyServerLimit.registerAgeSecondsMaxForUnknownKey)
  }

  private func register(atMost ageSeconds: TimeInterval) async throws -> Register {
    let now = clock.now
    let kept = latest.withLock { $0 }
    if let kept, kept.readAt <= now, now.timeIntervalSince(kept.readAt) < ageSeconds {
      return kept.register
    }
    let register = Register(configured: configured(), stored: try await store.registerEntries())
    latest.withLock { $0 = (register, now) }
    return register
  }

  /// Forgets what was read, for it has changed.
  func forget() {
    latest.withLock { $0 = nil }
  }
}

/// Every app and authority that is known at one moment, with the keys ready for use.
struct Register: Sendable {
  let apps: [String: AuthorizedApp]
  let authorities: [String: HealthAuthority]
  let certificates: CertificateVerifier
  /// Who checks upload tokens.
  let tokens: UploadTokenVerifier
  private let keys: [String: [AuthorityKey]]

  /// What the configuration says, and beside it what the database holds. A key that cannot be read is
  /// left out: the others go on working.
  init(configured: ConfiguredRegister, stored: RegisterEntries) {
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
      let more = try? authority.adding(
        keyID: key.keyID, publicKeyPEM: key.publicKeyPEM, from: key.goodFrom,
        until: key.goodUntil ?? .distantFuture)
      return more ?? authority
    }
  }

  /// The key of `issuer` under that id, where it is believed at `now`.
  func key(_ keyID: String, of issuer: String, at now: Date) -> P256.Signing.PublicKey? {
    let key = keys[issuer]?.last {
      $0.keyID == keyID && $0.goodFrom <= now && now < ($0.goodUntil ?? .distantFuture)
    }
    return key.flatMap { try? P256.Signing.PublicKey(pemRepresentation: $0.publicKeyPEM) }
  }
}

/// What the configuration, and not the database, says of apps and authorities.
struct ConfiguredRegister: Sendable {
  /// Its apps and authorities.
  let entries: RegisterEntries
  /// Who checks upload tokens, with the keys of their issuer.
  let tokens: UploadTokenVerifier
}

/// Whose upload tokens are taken: the public keys of their issuer, read anew whenever the register is.
///
/// Documentation/KeyServer.md 8.5. What cannot be read changes nothing: the keys that were there stay good.
final class TokenKeyDesk: Sendable {
  private let configuration: KeyServerConfiguration
  private let logger: Logger
  private let latest: Mutex<ConfiguredRegister>

  /// - Throws: `KeyServerError.configuration` where the keys of the configuration are none.
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

  /// What the configuration says of apps and authorities, with the keys that are known now.
  func configured() -> ConfiguredRegister {
    guard let read = configuration.readTokenPublicKeysPEM else { return latest.withLock { $0 } }
    do {
      let keys = try read()
      guard !keys.isEmpty else { throw SigningKeysError.noKey }
      let new = try Self.configured(configuration, tokenKeys: keys)
      latest.withLock { $0 = new }
    } catch {
      logger.warning(
        "the public keys of tokens could not be read; those that were known stay good",
        metadata: ["kind": "\(type(of: error))"])
    }
    return latest.withLock { $0 }
  }

  private static func configured(
    _ configuration: KeyServerConfiguration, tokenKeys: [String: String]
  ) throws -> ConfiguredRegister {
    ConfiguredRegister(
      entries: configuration.registerEntries(tokenKeys),
      tokens: try UploadTokenVerifier(
        issuer: configuration.tokenIssuer, audience: configuration.tokenAudience,
        publicKeysPEM: tokenKeys))
  }
}
