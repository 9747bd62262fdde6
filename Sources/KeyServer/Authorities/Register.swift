import Crypto
import Foundation
import UploadToken

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
