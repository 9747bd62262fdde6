import Crypto
import Foundation
import KeyServer
import UploadToken

/// Everything that the health authority signs with, made anew for a test.
struct Authority: Sendable {
  let tokenKey = P256.Signing.PrivateKey()
  let exportKeys = [P256.Signing.PrivateKey(), P256.Signing.PrivateKey()]

  var signers: [ExportSigner] {
    exportKeys.enumerated().map { number, key in
      ExportSigner(
        privateKeyPEM: key.pemRepresentation, keyID: "260", keyVersion: "v\(number + 1)")
    }
  }

  /// A token for one upload, bound to the keys of `keyHMAC` where there is one.
  func token(
    at now: Date, lifetime: TimeInterval = 1_800, keyHMAC: Data? = nil, id: String? = nil,
    onset: UInt32? = nil, audience: String = "keys", key: P256.Signing.PrivateKey? = nil,
    keyID: String = "t1"
  ) async throws -> String {
    let issuer = try UploadTokenIssuer(
      keyID: keyID, privateKeyPEM: (key ?? tokenKey).pemRepresentation, issuer: "codes",
      audience: audience)
    return try await issuer.token(
      for: UploadGrant(
        tokenID: id ?? UUID().uuidString, issuedAt: now,
        expiresAt: now.addingTimeInterval(lifetime),
        symptomOnsetInterval: onset, keyHMAC: keyHMAC))
  }
}
