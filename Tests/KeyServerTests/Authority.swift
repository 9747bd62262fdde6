// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import UploadToken

/// The signing keys of a health authority.
struct Authority: Sendable {
  let tokenKey = P256.Signing.PrivateKey()
  let exportKeys = [P256.Signing.PrivateKey(), P256.Signing.PrivateKey()]

  var signers: [ExportSigner] {
    exportKeys.enumerated().map { number, key in
      ExportSigner(
        privateKeyPEM: key.pemRepresentation, keyID: "260", keyVersion: "v\(number + 1)")
    }
  }

  /// An upload token, bound to the keys of `keyHMAC` if it is given.
  func token(
    at now: Date, lifetime: TimeInterval = 1_800, keyHMAC: Data? = nil, id: String? = nil,
    onset: UInt32? = nil, audience: String = "keys", key: P256.Signing.PrivateKey? = nil,
    keyID: String = "t1", isCanary: Bool = false
  ) async throws -> String {
    let issuer = try UploadTokenIssuer(
      keyID: keyID, privateKeyPEM: (key ?? tokenKey).pemRepresentation, issuer: "codes",
      audience: audience)
    return try await issuer.token(
      for: UploadGrant(
        tokenID: id ?? UUID().uuidString, issuedAt: now,
        expiresAt: now.addingTimeInterval(lifetime),
        symptomOnsetInterval: onset, keyHMAC: keyHMAC, isCanary: isCanary))
  }
}
