// SPDX-License-Identifier: Apache-2.0
import Canary
import Crypto
import ExposureApp
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import ServerMetrics
import TestSupport
import UploadToken
import VerificationServer
import World

@testable import Simulation

/// Real servers on the loopback interface with a simulated clock, for a round of the canary in virtual time.
struct CanaryScene: Sendable {
  static let start = Date(timeIntervalSince1970: 1_800_014_400 + 1_800)

  /// The faults that are injected into the servers.
  struct Faults {
    var verification: (inout VerificationServerConfiguration) -> Void = { _ in }
    var keys: (inout KeyServerConfiguration) -> Void = { _ in }
    /// Changes what phones and officials see of the network.
    var network: (any Network) -> any Network = { $0 }
    /// The notices of each phone.
    var notices: @Sendable () -> SimulatedNotices = { SimulatedNotices() }
    /// False if no period is closed any more.
    var exports = true
  }

  let clock: SimulatedClock
  let keyServer: KeyServer
  let verificationServer: VerificationServer
  let result: CanaryRound.Result
  /// The virtual time of the round, in seconds.
  let seconds: TimeInterval

  /// Runs one round against servers with `faults`.
  static func round(
    _ faults: Faults = Faults(), in folder: TemporaryFolder,
    inspect: (CanaryScene) async throws -> Void
  ) async throws {
    let (clock, randomness) = (SimulatedClock(now: start), SystemRandomness())
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let tokenKey = P256.Signing.PrivateKey()
    let signing = try SimulatedSigning(clock: clock, randomness: randomness)
    let codes = try codes(faults, tokenKey, in: folder)
    let keys = keys(faults, tokenKey, signing, in: folder)
    let apiKey = try await APIKeys(configuration: codes, clock: clock, randomness: randomness)
      .add(kind: .canary, name: "canary")
    let verificationServer = try VerificationServer(
      configuration: codes, clock: clock, randomness: randomness, logger: logger)
    let keyServer = try KeyServer(keys, clock: clock, randomness: randomness, logger: logger)
    let running = [
      Task { try await verificationServer.run() }, Task { try await keyServer.run() },
    ]
    defer { for task in running { task.cancel() } }
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    let site = CanarySite(
      verificationServer: .loopback(port: await verificationServer.boundPort),
      keyServer: .loopback(port: await keyServer.boundPort), apiKey: apiKey,
      rootKey: signing.rootKey)
    let exports = faults.exports
    let result = try await CanaryRound(
      site, folder: folder.path("phones"), clock: clock, seed: 7,
      network: faults.network(network), logger: logger, notices: faults.notices,
      pause: { seconds in
        clock.advance(by: seconds)
        if exports { _ = try? await keyServer.exportDue() }
      }
    ).run()
    try await inspect(
      CanaryScene(
        clock: clock, keyServer: keyServer, verificationServer: verificationServer,
        result: result, seconds: clock.now.timeIntervalSince(start)))
    for task in running {
      task.cancel()
      _ = await task.result
    }
    await network.shutdown()
  }

  private static func codes(
    _ faults: Faults, _ tokenKey: P256.Signing.PrivateKey, in folder: TemporaryFolder
  ) throws -> VerificationServerConfiguration {
    var codes = VerificationServerConfiguration(
      databaseFile: folder.path("verification.sqlite"), apiTokens: ["token-of-an-official-1234"],
      codeHashKey: SystemRandomness().bytes(32), codeLifetime: 1_800, tokenLifetime: 1_800,
      signing: try UploadTokenIssuer(
        keyID: "token-1", privateKeyPEM: tokenKey.pemRepresentation, issuer: "codes",
        audience: "keys"))
    faults.verification(&codes)
    return codes
  }

  private static func keys(
    _ faults: Faults, _ tokenKey: P256.Signing.PrivateKey, _ signing: SimulatedSigning,
    in folder: TemporaryFolder
  ) -> KeyServerConfiguration {
    var keys = KeyServerConfiguration(
      port: 0, databaseFile: folder.path("keys.sqlite"),
      databaseKey: Data(SystemRandomness().bytes(32)), exportFolder: folder.path("exports"),
      regions: ["PL"], appPackages: ["org.example"], tokenIssuer: "codes", tokenAudience: "keys",
      tokenPublicKeysPEM: ["token-1": tokenKey.publicKey.pemRepresentation], exportSigners: [],
      region: "PL", deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    keys.acceptsCanary = true
    keys.readExportSigners = { signing.signers }
    keys.readDeviceConfiguration = { try signing.signedDocument() }
    faults.keys(&keys)
    return keys
  }
}

/// A network in which some paths fail.
struct FaultyNetwork: Network {
  let network: any Network
  /// The response to a path, instead of that of the server; nil for no fault.
  let response: @Sendable (String) throws -> NetworkResponse?

  var connection: NetworkConnection { get async { await network.connection } }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    if let response = try response(request.url.path) { return response }
    return try await network.send(request)
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    if let response = try response(request.url.path) { return response }
    return try await network.download(request, to: file)
  }
}
