import Foundation
import UploadToken
import VerificationServer
import World

extension ServerSetup {
  /// What an official has set, with the options in place of what they name.
  func verificationSettings() throws -> VerificationServerSettings {
    let said = try folder.verificationSettings.read(VerificationServerSettings.self)
    return try (said ?? VerificationServerSettings()).effective(with: options)
  }

  /// What the verification server is told. Its secrets are made where there are none yet.
  func verificationConfiguration(
    host: String = "127.0.0.1", port: Int = 0
  ) throws -> VerificationServerConfiguration {
    let settings = try verificationSettings()
    let (file, tokenKeys) = (folder.verificationSecrets, folder.tokenPublicKeys)
    let secrets = try file.readOrBegin { VerificationSecrets(from: SystemRandomness()) }
    try tokenKeys.write(secrets.signingKeys, at: SystemClock().now)
    var configuration = VerificationServerConfiguration(
      host: host, port: port, databaseFile: folder.verificationDatabase,
      apiTokens: secrets.apiTokens, codeHashKey: Array(secrets.codeHashKey),
      signing: UploadTokenIssuer(
        keys: try secrets.keysThatSign, issuer: settings.issuer, audience: settings.audience))
    configuration.readSigningKeys = {
      guard let secrets = try file.read(VerificationSecrets.self) else {
        throw CommandFailure.badInput("\(file.url.path) is gone: restore it from a backup.")
      }
      let keys = try secrets.keysThatSign
      // Before they sign: the key server asks the file where it sees an id that it does not know.
      try tokenKeys.write(secrets.signingKeys, at: SystemClock().now)
      return keys
    }
    try settings.apply(to: &configuration, folder: folder.verification)
    return configuration
  }

  /// Whether the settings would hold, with secrets made up here in place of the server's.
  func checkVerification() throws {
    let settings = try verificationSettings()
    try folder.verificationSettings.naming {
      try Self.refusing {
        var configuration = try VerificationServerSettings.placeholder(
          issuer: settings.issuer, audience: settings.audience)
        try settings.apply(to: &configuration, folder: folder.verification)
        try configuration.check()
      }
    }
  }
}
