import Foundation
import KeyServer
import World

extension ServerSetup {
  /// What an official has set, with the options in place of what they name.
  func keySettings() throws -> KeyServerSettings {
    let said = try folder.keySettings.read(KeyServerSettings.self)
    return (said ?? KeyServerSettings()).effective(with: options)
  }

  /// What the key server is told. Its keys are made where there are none yet.
  func keyConfiguration(
    host: String = "127.0.0.1", port: Int = 0
  ) throws -> KeyServerConfiguration {
    let settings = try keySettings()
    let (secrets, tokenKeys) = (folder.keySecrets, folder.tokenPublicKeys)
    let keys = try secrets.readOrBegin { KeySecrets(keyID: settings.keyID) }
    if let verification = try folder.verificationSecrets.read(VerificationSecrets.self) {
      try tokenKeys.write(verification.signingKeys, at: SystemClock().now)
    }
    var configuration = try configuration(
      settings, tokenKeys: try tokenKeys.read(), signers: keys.signingKeys.map(\.exportSigner))
    configuration.host = host
    configuration.port = port
    configuration.readTokenPublicKeysPEM = { try tokenKeys.read() }
    configuration.readExportSigners = {
      try secrets.read(KeySecrets.self)?.signingKeys.map(\.exportSigner) ?? []
    }
    return configuration
  }

  /// Whether the settings would hold, without the server's keys.
  func checkKeys() throws {
    let settings = try keySettings()
    try folder.keySettings.naming {
      try Self.refusing { try configuration(settings, tokenKeys: [:], signers: []).checked() }
    }
  }

  private func configuration(
    _ settings: KeyServerSettings, tokenKeys: [String: String], signers: [ExportSigner]
  ) throws -> KeyServerConfiguration {
    let regions = Set(settings.regions ?? [settings.region])
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.keyDatabase, exportFolder: folder.exports, regions: regions,
      appPackages: Set(settings.appPackages), tokenIssuer: settings.tokenIssuer,
      tokenAudience: settings.tokenAudience, tokenPublicKeysPEM: tokenKeys, exportSigners: signers,
      region: settings.region, deviceCheck: nil,
      remoteConfiguration: settings.remoteConfiguration.configuration)
    // Google's contract: the same authority certifies, by the same keys.
    configuration.tokenIssuerSeesStatistics = true
    try settings.apply(to: &configuration, folder: folder.keys)
    return configuration
  }
}
