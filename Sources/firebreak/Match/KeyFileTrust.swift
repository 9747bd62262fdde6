import DiagnosisKeyFile
import ExposureNotification
import Foundation

/// Whose key files are taken.
enum KeyFileTrust: Equatable {
  /// Those signed with the private half of this public key, in PEM.
  case signer(publicKeyPEM: String)
  /// Those that carry a signature, whoever made it.
  case anySigner
  /// All of them.
  case anybody

  /// What the options say. Refuses a PEM that is none before any file is read.
  init(publicKey: String?, takesUnsigned: Bool) throws {
    guard let publicKey else {
      self = takesUnsigned ? .anybody : .anySigner
      return
    }
    let pem = try InputFile(publicKey, what: "public key").text
    _ = try VerificationPublicKey(keyID: "", keyVersion: "", publicKeyPEM: pem)
    self = .signer(publicKeyPEM: pem)
  }

  /// How many keys are looked for at once.
  static let batchSize = MatchLimit.keysPerBatch

  /// Hands the keys of `file` to `each`; refuses a file that is not trusted, with its name.
  func read(
    _ file: String, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileFacts {
    do {
      return try read(UnverifiedKeyFile(at: URL(fileURLWithPath: file)), each: each)
    } catch let error as KeyFileError {
      throw CommandFailure(
        status: error.exitStatus, sentence: "\(file.printable): \(error.description)")
    }
  }

  private func read(
    _ file: UnverifiedKeyFile, each: (ProvisionalKeyBatch) throws -> Void
  ) throws -> KeyFileFacts {
    switch self {
    case .anybody:
      return try file.unverifiedKeys(batchSize: Self.batchSize, each: each)
    case .anySigner:
      let facts = try file.unverifiedKeys(batchSize: Self.batchSize, each: each)
      guard !facts.signatures.isEmpty else { throw KeyFileError.unsigned }
      return facts
    case .signer(let pem):
      let keys = try file.signatures().map {
        try VerificationPublicKey(
          keyID: $0.verificationKeyID, keyVersion: $0.verificationKeyVersion, publicKeyPEM: pem)
      }
      return try file.verified(by: keys, batchSize: Self.batchSize, each: each).facts
    }
  }
}
