// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Crypto
import DiagnosisKeyFile
import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ServiceLifecycle
import UploadToken
import VerificationAPI
import VerificationServer
import World

/// A health authority: the real verification server and the real key server on loopback, with the
/// simulated clock and a database each.
public final class SimulatedHealthAuthority: Service {
  /// The names and periods that both servers and the phones use.
  public enum Name {
    /// The region of the exported keys.
    public static let region = "PL"
    /// The bundle identifier of the app.
    public static let app = "pl.gov.mc.protegosafe"
    /// The issuer of upload tokens.
    public static let issuer = "verification.firebreak.example"
    /// The audience of upload tokens.
    public static let audience = "keys.firebreak.example"
    /// The ID of the export key: Poland's mobile country code.
    public static let exportKeyID = "260"
    /// The period of a key file, in seconds.
    public static let exportPeriodSeconds = 3_600
  }

  /// The server that exchanges PINs for tokens.
  public let verificationServer: VerificationServer
  /// The server that accepts keys and publishes key files.
  public let keyServer: KeyServer
  /// The signing keys, and the document that tells phones about them.
  public let signing: SimulatedSigning
  /// The folder for both databases and the exports.
  public let folder: URL

  private let apiToken: String

  /// Creates both servers; `run()` starts them.
  ///
  /// - Parameters:
  ///   - minimumKeys: The number of keys that each key file is padded to.
  ///   - codeLifetime: The lifetime of a PIN and of its token, in seconds.
  ///   - exportPeriodSeconds: The period of a key file, in seconds.
  ///   - rollUps: True for roll-ups, which phones download that were off for days.
  /// - Throws: The servers' errors if the folder cannot be used.
  public init(
    folder: URL, clock: any WallClock, randomness: SeededSources,
    deviceCheck: DeviceCheckConfiguration?, minimumKeys: Int = 1_000,
    codeLifetime: TimeInterval = 1_800,
    exportPeriodSeconds: Int = Name.exportPeriodSeconds, rollUps: Bool = false,
    logger: Logger
  ) throws {
    let secrets = randomness.source("health authority")
    let tokenKey = P256.Signing.PrivateKey(from: secrets)
    signing = try SimulatedSigning(clock: clock, randomness: secrets)
    apiToken = Data(secrets.bytes(24)).base64EncodedString()
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    verificationServer = try VerificationServer(
      configuration: VerificationServerConfiguration(
        databaseFile: folder.appendingPathComponent("verification.sqlite"), apiTokens: [apiToken],
        codeHashKey: secrets.bytes(32), codeLifetime: codeLifetime, tokenLifetime: codeLifetime,
        signing: UploadTokenIssuer(
          keyID: "token-1", privateKeyPEM: tokenKey.pemRepresentation, issuer: Name.issuer,
          audience: Name.audience)),
      clock: clock, randomness: randomness.source("verification server"), logger: logger)
    var keys = KeyServerConfiguration(
      port: 0, databaseFile: folder.appendingPathComponent("keys.sqlite"),
      databaseKey: Data(secrets.bytes(32)), exportFolder: folder.appendingPathComponent("exports"),
      regions: [Name.region],
      appPackages: [Name.app], tokenIssuer: Name.issuer, tokenAudience: Name.audience,
      tokenPublicKeysPEM: ["token-1": tokenKey.publicKey.pemRepresentation],
      exportSigners: [], region: Name.region, deviceCheck: deviceCheck,
      remoteConfiguration: RemoteConfiguration(version: 1))
    keys.exportPeriodSeconds = exportPeriodSeconds
    keys.rollUps = rollUps
    keys.minimumKeys = minimumKeys
    // The device check is a stand-in on the same machine.
    keys.deviceCheckSeconds = Int(NetworkLimit.ownMachineTimeoutSeconds)
    keys.readExportSigners = { [signing] in signing.signers }
    keys.readDeviceConfiguration = { [signing] in try signing.signedDocument() }
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

  /// Runs both servers during `work`, then stops them and the network of the phones.
  ///
  /// - Parameters:
  ///   - network: The network of the phones, which cannot be used afterwards.
  ///   - work: Called when both servers listen.
  /// - Throws: The error of `work`.
  public func serve<Result: Sendable>(
    over network: HTTPNetwork, during work: () async throws -> Result
  ) async throws -> Result {
    let servers = Task { try await run() }
    _ = await (verificationURL, keyServerURL)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    servers.cancel()
    // It was cancelled, or the work has failed with it.
    _ = await servers.result
    await network.shutdown()
    return try result.get()
  }

  /// An official with the API token of the verification server.
  public func official(network: any Network) async -> HealthOfficial {
    HealthOfficial(server: await verificationURL, apiToken: apiToken, network: network)
  }

  /// The configuration of the authority's app; available once the servers listen.
  ///
  /// - Parameter windowRisk: The rules of an app of API version 2; nil for version 1.
  public func appConfiguration(windowRisk: WindowRiskAssessment? = nil) async -> AppConfiguration {
    AppConfiguration(
      verificationServer: await verificationURL, keyServer: await keyServerURL,
      region: Name.region, appPackageName: Name.app, rootKey: signing.rootKey,
      windowRisk: windowRisk)
  }

  /// The URL of the verification server; available once it listens.
  public var verificationURL: URL {
    get async { URL.loopback(port: await verificationServer.boundPort) }
  }

  /// The URL of the key server; available once it listens.
  public var keyServerURL: URL {
    get async { URL.loopback(port: await keyServer.boundPort) }
  }
}

extension P256.Signing.PrivateKey {
  /// Generates a key; almost all 32-byte strings are valid.
  init(from randomness: any Randomness) {
    while true {
      // Zero and numbers above the order of the curve are not keys: draw again.
      if let key = try? Self(rawRepresentation: randomness.bytes(32)) {
        self = key
        return
      }
    }
  }
}

extension URL {
  /// The URL of a server on loopback.
  package static func loopback(port: Int) -> URL {
    var parts = URLComponents()
    parts.scheme = "http"
    parts.host = "127.0.0.1"
    parts.port = port
    // A URL with a fixed scheme and host is always valid.
    return parts.url ?? URL(fileURLWithPath: "/")
  }
}

/// An official who issues PINs over the authenticated route of the verification server.
public struct HealthOfficial: Sendable {
  private let server: URL
  private let apiToken: String
  private let network: any Network

  /// An official with an API token of the verification server at `server`.
  public init(server: URL, apiToken: String, network: any Network) {
    self.server = server
    self.apiToken = apiToken
    self.network = network
  }

  /// A PIN, and the bodies of the request and of its response in bytes.
  public struct Answer: Sendable {
    public let code: String
    public let bytesSent: Int
    public let bytesReceived: Int
  }

  /// Requests a PIN for a confirmed test.
  ///
  /// - Parameter token: The API token; nil for that of the official. The server must refuse another one.
  /// - Throws: `HealthOfficialError` if the server refuses, or `NetworkFailure`.
  public func issueCode(as token: String? = nil) async throws -> String {
    try await requestCode(as: token).code
  }

  /// Requests a PIN, and measures the bodies.
  ///
  /// - Parameter token: The API token; nil for that of the official.
  /// - Throws: The same errors as `issueCode(as:)`.
  public func requestCode(as token: String? = nil) async throws -> Answer {
    let body = try JSONEncoder().encode(
      CallableRequest(data: GenerateCodeRequest(testType: "confirmed")))
    let response = try await network.send(
      NetworkRequest(
        server.appendingPathComponent(VerificationRoute.generateCode), body: body,
        headers: [VerificationRoute.apiTokenHeader: token ?? apiToken]))
    guard response.status == 200 else { throw HealthOfficialError(status: response.status) }
    let code = try JSONDecoder().decode(CallableResponse<String>.self, from: response.body).result
    return Answer(code: code, bytesSent: body.count, bytesReceived: response.body.count)
  }
}

/// The verification server refused to issue a PIN.
public struct HealthOfficialError: Error, CustomStringConvertible {
  /// The HTTP status of the response.
  public let status: Int

  public var description: String { "Issuing a PIN failed: the server returned status \(status)." }
}
