import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import World

/// One measurement of an export, in a folder that goes away.
struct ExportBench {
  static let keyCounts = 1...500_000
  static let region = "PL"
  /// When the period begins: a midnight that periods of four hours have as a boundary.
  static let start = Date(timeIntervalSince1970: 1_599_955_200)

  let keyCount: Int

  func run() async throws -> ExportBenchReport {
    let folder = try BenchFolder(keep: nil)
    let signals = SignalHandler.exiting(after: folder.removeUnlessKept)
    defer { withExtendedLifetime(signals, folder.removeUnlessKept) }
    let database = folder.url.appendingPathComponent("keys.sqlite")
    try fill(database)
    let server = try server(in: folder.url, database)
    let memory = MemoryGauge()
    let start = ContinuousClock.now
    let files = try await server.exportDue()
    let duration = ContinuousClock.now - start
    guard let name = files.first, files.count == 1 else {
      throw CommandFailure(status: .machineFailed, sentence: "The export made no file: try again.")
    }
    let file = folder.url.appendingPathComponent("exports").appendingPathComponent(name)
    let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
    return ExportBenchReport(
      keys: keyCount, seconds: (duration / .seconds(1)).rounded(to: 3),
      peakMemoryMiB: (Double(memory.peak) / Double(1 << 20)).rounded(to: 1),
      bytes: size?.intValue ?? 0)
  }

  /// In a process of its own, so that neither its memory nor its cache is ours.
  private func fill(_ database: URL) throws {
    let process = Process()
    process.executableURL = URL.thisProgram
    process.arguments = ["bench", "export-fill", database.path, "--keys", "\(keyCount)"]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandFailure(
        status: .machineFailed, sentence: "The keys could not be made: check the disk, try again.")
    }
  }

  private func server(in folder: URL, _ database: URL) throws -> KeyServer {
    let key = P256.Signing.PrivateKey().pemRepresentation
    let token = P256.Signing.PrivateKey().publicKey.pemRepresentation
    let configuration = KeyServerConfiguration(
      port: 0, databaseFile: database, exportFolder: folder.appendingPathComponent("exports"),
      regions: [Self.region], appPackages: ["bench"], tokenIssuer: "bench", tokenAudience: "bench",
      tokenPublicKeysPEM: ["t1": token],
      exportSigners: [ExportSigner(privateKeyPEM: key, keyID: "260", keyVersion: "v1")],
      region: Self.region, deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    let end = Self.start.addingTimeInterval(TimeInterval(configuration.exportPeriodSeconds))
    return try KeyServer(
      configuration, clock: StandingClock(now: end), randomness: SystemRandomness(),
      logger: Logger(label: "firebreak") { _ in SwiftLogNoOpLogHandler() })
  }
}
