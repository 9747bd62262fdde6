import Foundation
import World

/// The verification server, whose keys sign tokens and certificates.
enum VerificationServerOwner: ServerOwner {
  static let commandName = "verification-server"
  static let server = ServerName.verification
  /// As long as a token lives at most.
  static let overlapSeconds = 86_400

  static func database(of folder: ServerFolder) -> URL { folder.verificationDatabase }

  static func secretsFile(of folder: ServerFolder) -> OwnersFile { folder.verificationSecrets }

  static func signingKeys(of folder: ServerFolder) throws -> [SecretSigningKey]? {
    try folder.verificationSecrets.read(VerificationSecrets.self)?.signingKeys
  }

  static func signingKeysOrFirst(of setup: ServerSetup) throws -> [SecretSigningKey] {
    try secrets(of: setup.folder).signingKeys
  }

  /// The public halves are laid down first, so that the key server knows a key before it signs.
  static func keep(_ keys: [SecretSigningKey], of setup: ServerSetup) throws {
    var secrets = try secrets(of: setup.folder)
    secrets.signingKeys = keys
    try setup.folder.tokenPublicKeys.write(keys, at: SystemClock().now)
    try setup.folder.verificationSecrets.replace(secrets)
  }

  static func newKey(after keys: [SecretSigningKey], from: Date?) -> SecretSigningKey {
    SecretSigningKey(keyID: "t\(keys.count + 1)", keyVersion: nil, validFrom: from)
  }

  static func settings(of setup: ServerSetup) throws -> any Encodable {
    try setup.checkVerification()
    return try setup.verificationSettings()
  }

  private static func secrets(of folder: ServerFolder) throws -> VerificationSecrets {
    try folder.verificationSecrets.readOrBegin { VerificationSecrets(from: SystemRandomness()) }
  }
}
