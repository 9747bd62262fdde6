import DiagnosisKeyFile
import Foundation

/// Whether a key file is signed by one key, whatever id and version the file gives it.
struct SignatureCheck {
  let publicKeyPEM: String

  /// Yes or no; an error where the file or the key is none.
  func holds(for file: UnverifiedKeyFile) -> Result<Bool, any Error> {
    Result {
      let keys = try file.signatures().map {
        try VerificationPublicKey(
          keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion,
          publicKeyPEM: publicKeyPEM)
      }
      do {
        _ = try file.verified(by: keys, batchSize: KeyFileTrust.batchSize) { _ in }
        return true
      } catch let error as KeyFileError where error.exitStatus == .no {
        return false
      }
    }
  }

  /// A public key in DER as PEM.
  static func pem(subjectPublicKeyInfo: Data) -> String {
    let text = subjectPublicKeyInfo.base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }
}

extension Result<String, any Error> {
  /// The value, or in its place what went wrong.
  var text: String {
    switch self {
    case .success(let text): text
    case .failure(let error): "\(error)"
    }
  }
}
