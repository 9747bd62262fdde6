import Foundation
import World

/// The verification server, whose keys sign tokens and certificates.
enum VerificationServerOwner: ServerOwner {
  static let commandName = "verification-server"
  /// As long as a token lives at most.
  static let overlapSeconds = 86_400

  static func database(of folder: ServerFolder) -> URL { folder.verificationDatabase }

  static func signingKeys(
    of folder: ServerFolder, _ options: ServerOptions
  ) throws -> [StoredKey] { try secrets(of: folder).signingKeys }

  static func keep(
    _ keys: [StoredKey], in folder: ServerFolder, _ options: ServerOptions
  ) throws {
    var secrets = try secrets(of: folder)
    secrets.signingKeys = keys
    try folder.verificationSecrets.replace(secrets)
  }

  static func newKey(
    after keys: [StoredKey], from: Date?, _ options: ServerOptions
  ) -> StoredKey {
    StoredKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
  }

  private static func secrets(of folder: ServerFolder) throws -> VerificationSecrets {
    try folder.verificationSecrets.readOrBegin { VerificationSecrets(from: SystemRandomness()) }
  }
}
