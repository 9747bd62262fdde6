import Crypto
import DiagnosisKeyFile
import Foundation

/// The key that the server signs with, and the region configuration that makes phones trust it.
enum AuthorityKey {
  /// Where phones find the region configuration.
  static func regionFile(in folder: URL) -> URL { folder.appendingPathComponent("region.json") }

  /// The signer of the server in `folder`; a new key on the first day.
  static func signer(in folder: URL) throws -> KeyFileSigner {
    let file = folder.appendingPathComponent("signing-key.pem")
    let pem: String
    if let stored = try? String(contentsOf: file, encoding: .utf8) {
      pem = stored
    } else {
      pem = P256.Signing.PrivateKey().pemRepresentation
      try PrivateFile.write(Data(pem.utf8), to: file)
    }
    let signer = try KeyFileSigner(
      privateKeyPEM: pem, keyID: LocalServer.region.keyID,
      keyVersion: LocalServer.region.keyVersion)
    try JSONEncoder().encode([
      "countryCode": LocalServer.region.name, "regionIdentifier": LocalServer.region.keyID,
      "publicKeyVersion": LocalServer.region.keyVersion, "publicKey": signer.publicKeyPEM,
    ]).write(to: regionFile(in: folder), options: .atomic)
    return signer
  }
}
