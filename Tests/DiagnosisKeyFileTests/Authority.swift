import Crypto
import DiagnosisKeyFile
import Foundation

/// A health authority with a fresh key, as signer and as phones know it.
struct Authority {
  let keyID: String
  let keyVersion: String
  let privateKey = P256.Signing.PrivateKey()

  init(keyID: String = "260", keyVersion: String = "v1") {
    self.keyID = keyID
    self.keyVersion = keyVersion
  }

  func signer() throws -> KeyFileSigner {
    try KeyFileSigner(
      privateKeyPEM: privateKey.pemRepresentation, keyID: keyID, keyVersion: keyVersion)
  }

  func publicKey() throws -> VerificationPublicKey {
    try VerificationPublicKey(
      keyID: keyID, keyVersion: keyVersion,
      publicKeyPEM: privateKey.publicKey.pemRepresentation)
  }
}
