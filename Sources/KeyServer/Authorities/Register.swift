import Foundation
import UploadToken

/// Every app and authority that is known at one moment, with the keys ready for use.
struct Register: Sendable {
  let apps: [String: AuthorizedApp]
  let authorities: [String: HealthAuthority]
  let certificates: CertificateVerifier

  /// What the configuration says, and beside it what the database holds. A key that cannot be read is
  /// left out: the others go on working.
  init(configured: RegisterEntries, stored: RegisterEntries) {
    apps = Dictionary((configured.apps + stored.apps).map { ($0.id, $0) }) { one, other in
      AuthorizedApp(
        id: one.id, regions: one.regions.union(other.regions),
        authorities: one.authorities.union(other.authorities))
    }
    let all = configured.authorities + stored.authorities
    let known = Dictionary(all.map { ($0.issuer, $0) }) { $1 }
    authorities = known
    certificates = CertificateVerifier(
      authorities: known.values.map { authority in
        let keys =
          authority.publicKeysPEM.map {
            AuthorityKey(
              keyID: $0.key, publicKeyPEM: $0.value, goodFrom: .distantPast, goodUntil: nil,
              isPulled: false)
          } + (stored.keys[authority.issuer] ?? [])
        return keys.reduce(
          CertificateAuthority(issuer: authority.issuer, audience: authority.audience)
        ) { authority, key in
          let more = try? authority.adding(
            keyID: key.keyID, publicKeyPEM: key.publicKeyPEM, from: key.goodFrom,
            until: key.goodUntil ?? .distantFuture)
          return more ?? authority
        }
      })
  }
}
