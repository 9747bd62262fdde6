import Foundation
import KeyServer
import KeyServerAPI
import Logging
import UploadToken
import VerificationServer
import World

/// Makes the servers of one folder.
struct ServerSetup {
  let folder: ServerFolder
  let options: ServerOptions

  /// The verification server, which listens once it is run.
  ///
  /// - Throws: `CommandFailure` where the folder or the options do not make sense.
  func verificationServer(host: String, port: Int, logger: Logger) throws -> VerificationServer {
    try refusing {
      try VerificationServer(
        configuration: try verificationConfiguration(host: host, port: port),
        clock: SystemClock(), randomness: SystemRandomness(), logger: logger)
    }
  }

  /// The key server, which listens once it is run.
  ///
  /// - Throws: `CommandFailure` where the folder or the options do not make sense.
  func keyServer(host: String = "127.0.0.1", port: Int = 0, logger: Logger) throws -> KeyServer {
    try refusing {
      try KeyServer(
        try keyConfiguration(host: host, port: port), clock: SystemClock(),
        randomness: SystemRandomness(), logger: logger)
    }
  }

  /// Where API keys are made and revoked, beside the server.
  func apiKeyDesk() throws -> ApiKeyDesk {
    try ApiKeyDesk(
      configuration: verificationConfiguration(), clock: SystemClock(),
      randomness: SystemRandomness())
  }

  /// What the verification server is told. Its secrets are made where there are none yet.
  func verificationConfiguration(
    host: String = "127.0.0.1", port: Int = 0
  ) throws -> VerificationServerConfiguration {
    let secrets = try folder.verificationSecrets.readOrBegin {
      VerificationSecrets(from: SystemRandomness())
    }
    let signing = UploadTokenIssuer(
      keys: try SigningKeys(secrets.signingKeys.map { try $0.tokenKey }), issuer: options.issuer,
      audience: options.audience)
    try publishTokenKeys(secrets)
    return VerificationServerConfiguration(
      host: host, port: port, databaseFile: folder.verificationDatabase,
      apiTokens: secrets.apiTokens, codeHashKey: Array(secrets.codeHashKey), signing: signing)
  }

  /// What the key server is told. Its keys are made where there are none yet.
  func keyConfiguration(
    host: String = "127.0.0.1", port: Int = 0
  ) throws -> KeyServerConfiguration {
    let secrets = folder.keySecrets
    let keys = try secrets.readOrBegin { KeySecrets(keyID: options.keyID) }
    var configuration = KeyServerConfiguration(
      host: host, port: port, databaseFile: folder.keyDatabase, exportFolder: folder.exports,
      regions: [options.region], appPackages: [options.app], tokenIssuer: options.issuer,
      tokenAudience: options.audience, tokenPublicKeysPEM: try tokenKeys(),
      exportSigners: keys.signingKeys.map(\.exportSigner), region: options.region,
      deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    // Google's contract: the same authority certifies, by the same keys.
    configuration.healthAuthorities = [
      HealthAuthority(
        issuer: options.issuer, audience: options.audience,
        publicKeysPEM: configuration.tokenPublicKeysPEM, seesStatistics: true)
    ]
    configuration.apps = [
      AuthorizedApp(id: options.app, regions: [options.region], authorities: [options.issuer])
    ]
    // The same keys in Google's layout, for apps that were written for it.
    configuration.furtherExports = [
      ExportConfiguration(filenameRoot: options.region, region: options.region)
    ]
    configuration.readExportSigners = {
      try secrets.read(KeySecrets.self)?.signingKeys.map(\.exportSigner) ?? []
    }
    return configuration
  }

  /// Lays the public keys of tokens where the key server finds them, on this machine or copied to another.
  private func publishTokenKeys(_ secrets: VerificationSecrets) throws {
    let keys = Dictionary(
      secrets.signingKeys.map { ($0.keyID, $0.publicKeyPEM) }, uniquingKeysWith: { $1 })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    do {
      try encoder.encode(keys).write(to: folder.tokenPublicKeys, options: .atomic)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        sentence: "\(folder.tokenPublicKeys.path) could not be written: check the disk.")
    }
  }

  private func tokenKeys() throws -> [String: String] {
    if try folder.verificationSecrets.read(VerificationSecrets.self) != nil {
      _ = try verificationConfiguration()
    }
    let file = folder.tokenPublicKeys
    guard let data = try? Data(contentsOf: file) else {
      throw CommandFailure.badInput(
        "\(file.path) is missing: start the verification server first, or copy the file from its"
          + " folder.")
    }
    // Without a key the server would run and refuse every phone.
    guard let keys = try? JSONDecoder().decode([String: String].self, from: data), !keys.isEmpty
    else {
      throw CommandFailure.badInput(
        "\(file.path) holds no public keys by id: copy it again from the verification server's"
          + " folder.")
    }
    return keys
  }

  /// A server's refusal to start, as a command refuses.
  private func refusing<Server>(_ make: () throws -> Server) throws -> Server {
    do {
      return try make()
    } catch let error as KeyServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    } catch let error as VerificationServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    }
  }
}

extension KeyServerError {
  /// How a command ends that the key server refused.
  var exitStatus: ExitStatus {
    if case .configuration = self { .badInput } else { .machineFailed }
  }
}

extension VerificationServerError {
  /// How a command ends that the verification server refused.
  var exitStatus: ExitStatus {
    if case .badConfiguration = self { .badInput } else { .machineFailed }
  }
}
