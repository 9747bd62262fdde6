import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import World

/// A key server with an empty database, for as long as the bench holds its stdin open.
struct PublishServer {
  private let server: KeyServer

  /// Throws where the folder cannot hold a database.
  init(_ setting: PublishServerSetting) throws {
    server = try KeyServer(
      Self.configuration(setting), clock: SystemClock(), randomness: SystemRandomness(),
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Serves; `onReady` is told the port.
  func run(_ onReady: @escaping @Sendable (Int) throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        try onReady(await server.boundPort)
        await Self.endOfInput()
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private static func configuration(_ setting: PublishServerSetting) -> KeyServerConfiguration {
    let folder = URL(fileURLWithPath: setting.folder)
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.appendingPathComponent("keys.sqlite"),
      exportFolder: folder.appendingPathComponent("exports"),
      regions: [PublishServerSetting.region], appPackages: [PublishServerSetting.application],
      tokenIssuer: PublishServerSetting.issuer, tokenAudience: PublishServerSetting.audience,
      tokenPublicKeysPEM: [PublishServerSetting.keyID: setting.certificateKeyPEM],
      exportSigners: [
        ExportSigner(
          privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
          keyID: WorkloadFiles.keyID, keyVersion: WorkloadFiles.keyVersion)
      ], region: PublishServerSetting.region, deviceCheck: nil,
      remoteConfiguration: RemoteConfiguration(version: 1))
    // All uploads come from one address; a bench is no attack.
    configuration.uploadAttempts = KeyServerLimit.uploadAttemptsMax
    return configuration
  }

  private static func endOfInput() async {
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      FileHandle.standardInput.readabilityHandler = { input in
        guard input.availableData.isEmpty else { return }
        input.readabilityHandler = nil
        ended.resume()
      }
    }
  }
}
