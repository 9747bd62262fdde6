import Crypto
import DiagnosisKeyFile
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ServiceLifecycle
import UploadToken
import VerificationServer
import World

/// The health authority of a town: the real verification server and the real key server, each with
/// its own database, listening on loopback under the town's clock.
public final class SimulatedHealthAuthority: Service {
  /// The real servers' names for each other and for the region.
  public enum Name {
    /// The region whose keys are exported.
    public static let region = "PL"
    /// The app that may upload.
    public static let app = "pl.gov.mc.protegosafe"
    /// Who issues upload tokens.
    public static let issuer = "verification.firebreak.example"
    /// For whom upload tokens are.
    public static let audience = "keys.firebreak.example"
    /// The export key's id, Poland's mobile country code.
    public static let exportKeyID = "260"
    /// The export key's version.
    public static let exportKeyVersion = "v1"
    /// How long a key file's period is, in seconds: an hour.
    public static let exportPeriodSeconds = 3_600
  }

  /// The server that turns a PIN into a token.
  public let verificationServer: VerificationServer
  /// The server that turns a token and keys into signed files.
  public let keyServer: KeyServer
  /// The public half of the export key, as PEM: what phones carry.
  public let exportPublicKeyPEM: String
  /// Where the two databases and the exports lie.
  public let folder: URL

  private let apiToken: String

  /// Both servers, keeping their data in `folder`; each key file is padded to `minimumKeys` at least.
  /// They listen once they are run.
  ///
  /// - Throws: the servers' own errors where the folder cannot be used.
  public init(
    folder: URL, clock: any WallClock, randomness: SeededNames,
    deviceCheck: DeviceCheckConfiguration?, minimumKeys: Int = 1_000, logger: Logger
  ) throws {
    let secrets = randomness.source("health authority")
    let tokenKey = P256.Signing.PrivateKey(from: secrets)
    let exportKey = P256.Signing.PrivateKey(from: secrets)
    apiToken = Data(secrets.bytes(24)).base64EncodedString()
    exportPublicKeyPEM = exportKey.publicKey.pemRepresentation
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    verificationServer = try VerificationServer(
      configuration: VerificationServerConfiguration(
        databaseFile: folder.appendingPathComponent("verification.sqlite"), apiTokens: [apiToken],
        codeHashKey: secrets.bytes(32),
        signing: UploadTokenIssuer(
          keyID: "token-1", privateKeyPEM: tokenKey.pemRepresentation, issuer: Name.issuer,
          audience: Name.audience)),
      clock: clock, randomness: randomness.source("verification server"), logger: logger)
    var keys = KeyServerConfiguration(
      port: 0, databaseFile: folder.appendingPathComponent("keys.sqlite"),
      exportFolder: folder.appendingPathComponent("exports"), regions: [Name.region],
      appPackages: [Name.app], tokenIssuer: Name.issuer, tokenAudience: Name.audience,
      tokenPublicKeysPEM: ["token-1": tokenKey.publicKey.pemRepresentation],
      exportSigners: [
        ExportSigner(
          privateKeyPEM: exportKey.pemRepresentation, keyID: Name.exportKeyID,
          keyVersion: Name.exportKeyVersion)
      ], region: Name.region, deviceCheck: deviceCheck,
      remoteConfiguration: RemoteConfiguration(version: 1))
    keys.exportPeriodSeconds = Name.exportPeriodSeconds
    keys.minimumKeys = minimumKeys
    keyServer = try KeyServer(
      keys, clock: clock, randomness: randomness.source("key server"), logger: logger)
  }

  public func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.verificationServer.run() }
      group.addTask { try await self.keyServer.run() }
      try await group.next()
      group.cancelAll()
    }
  }

  /// The official who issues PINs, with the token that the verification server knows.
  public func official(network: any Network) async -> Official {
    Official(server: await verificationURL, apiToken: apiToken, network: network)
  }

  /// What an app of this authority is built with, once the servers listen.
  ///
  /// - Throws: where the export key is none, which would be a mistake of ours.
  public func appConfiguration() async throws -> AppConfiguration {
    AppConfiguration(
      verificationServer: await verificationURL, keyServer: await keyServerURL,
      region: Name.region, appPackageName: Name.app,
      remoteConfigurationKeys: [
        try RemoteConfigurationKey(
          keyID: Name.exportKeyID, keyVersion: Name.exportKeyVersion,
          publicKeyPEM: exportPublicKeyPEM)
      ])
  }

  /// What phones of this region trust.
  ///
  /// - Throws: where the export key is none, which would be a mistake of ours.
  public func regionConfiguration() throws -> RegionConfiguration {
    RegionConfiguration(
      region: Name.region,
      keys: [
        try VerificationPublicKey(
          keyID: Name.exportKeyID, keyVersion: Name.exportKeyVersion,
          publicKeyPEM: exportPublicKeyPEM)
      ])
  }

  /// Where the verification server listens, once it does.
  public var verificationURL: URL {
    get async { URL.loopback(port: await verificationServer.boundPort) }
  }

  /// Where the key server listens, once it does.
  public var keyServerURL: URL {
    get async { URL.loopback(port: await keyServer.boundPort) }
  }
}

extension P256.Signing.PrivateKey {
  /// A key drawn from `randomness`; almost every 32 bytes are one.
  fileprivate init(from randomness: any Randomness) {
    while true {
      if let key = try? Self(rawRepresentation: randomness.bytes(32)) {
        self = key
        return
      }
    }
  }
}
