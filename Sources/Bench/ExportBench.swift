// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import PostgreSQL
import Terminal
import World

/// One measurement of an export in a temporary folder.
struct ExportBench {
  static let keyCounts = 1...500_000
  static let region = "PL"
  /// The start of the period: a midnight, which is a boundary of four-hour periods.
  static let start = Date(unixSecond: 1_599_955_200)

  let keyCount: Int
  /// The address of a database in PostgreSQL; nil for SQLite.
  var database: String?
  /// True if the database in PostgreSQL has the keys.
  var isFilled = false

  func run() async throws -> ExportBenchReport {
    let folder = try BenchFolder(keep: nil)
    let cleanUp = CleanUp(folder.removeUnlessKept)
    defer { cleanUp.run() }
    let file = folder.url.appendingPathComponent("keys.sqlite")
    let bar = ProgressLine("keys")
    defer { bar.clear() }
    bar.show("Creating \(keyCount) keys")
    if !isFilled {
      try await requireEmptyDatabase()
      try await BenchExportFillCommand.fill(
        database ?? file.path, isPostgreSQL: database != nil, keyCount: keyCount,
        releasedFrom: Self.start)
    }
    let server = try server(in: folder.url, file)
    bar.show("Exporting \(keyCount) keys")
    let memory = MemoryGauge()
    let (start, processorStart) = (ContinuousClock.now, CPUClock.currentProcess.now)
    let files = try await server.exportDue()
    let duration = ContinuousClock.now - start
    let processor = (CPUClock.currentProcess.now ?? .zero) - (processorStart ?? .zero)
    guard let name = files.first, files.count == 1 else {
      throw CommandFailure(status: .machineFailed, message: "The export wrote no file: try again.")
    }
    let zip = folder.url.appendingPathComponent("exports").appendingPathComponent(name)
    let size = try FileManager.default.attributesOfItem(atPath: zip.path)[.size] as? NSNumber
    let peak = memory.peak
    bar.show("Deflating \(keyCount) keys with zlib")
    return ExportBenchReport(
      keys: keyCount, seconds: (duration / .seconds(1)).rounded(to: 3),
      processorSeconds: (processor / .seconds(1)).rounded(to: 3),
      peakMemoryMiB: (Double(peak) / Double(1 << 20)).rounded(to: 1),
      programMemoryMiB: (Double(memory.program) / Double(1 << 20)).rounded(to: 1),
      bytes: size?.intValue ?? 0, database: database == nil ? "sqlite" : "postgresql",
      zlib: try ZlibTimes(ofFirstEntryOf: zip, keyCount: keyCount))
  }

  /// Throws if the database in PostgreSQL is that of a server, or has the keys of an earlier measurement.
  private func requireEmptyDatabase() async throws {
    guard let database else { return }
    guard try await KeyServer.isFree(PostgreSQLAddress(database), logger: .silent) else {
      throw CommandFailure.badInput(
        "The database of --database has tables already: name an empty one.")
    }
  }

  private func server(in folder: URL, _ file: URL) throws -> KeyServer {
    let key = P256.Signing.PrivateKey().pemRepresentation
    let token = P256.Signing.PrivateKey().publicKey.pemRepresentation
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: file,
      databaseKey: Data(SystemRandomness().bytes(KeyServerLimit.databaseKeyBytes)),
      exportFolder: folder.appendingPathComponent("exports"),
      regions: [Self.region], appPackages: ["bench"], tokenIssuer: "bench", tokenAudience: "bench",
      tokenPublicKeysPEM: ["t1": token],
      exportSigners: [ExportSigner(privateKeyPEM: key, keyID: "260", keyVersion: "v1")],
      region: Self.region, deviceCheck: nil, remoteConfiguration: RemoteConfiguration(version: 1))
    configuration.databaseAddress = try database.map { try PostgreSQLAddress($0) }
    let end = Self.start.addingTimeInterval(TimeInterval(configuration.exportPeriodSeconds))
    return try KeyServer(
      configuration, clock: FixedClock(now: end), randomness: SystemRandomness(),
      logger: .silent)
  }
}

/// The result of `bench export`.
struct ExportBenchReport: Encodable {
  let build = BuildKind.current
  let keys: Int
  let seconds: Double
  /// The processor time of this process, to which SQLite belongs and PostgreSQL does not.
  let processorSeconds: Double
  let peakMemoryMiB: Double
  /// The part of it that was the program and its libraries before the export.
  let programMemoryMiB: Double
  /// The size of the zip.
  let bytes: Int
  let deflateLevel = KeyFileWriter.deflateLevel
  /// The kind of the database: `sqlite` or `postgresql`.
  let database: String
  /// For a comparison of machines.
  let zlib: ZlibTimes

  var text: String {
    """
    \(keys) keys from \(database == "sqlite" ? "SQLite" : "PostgreSQL") to a signed zip of \(bytes) bytes \
    (deflate level \(deflateLevel))
    \(seconds) s, processor time \(processorSeconds) s, at most \(peakMemoryMiB) MiB, \(programMemoryMiB) of them the \
    program and its libraries
    zlib, by key: \(zlib.deflateNanoseconds) ns to deflate the export, \(zlib.inflateNanoseconds) ns to inflate it
    """
  }

  private enum CodingKeys: CodingKey {
    case build, keys, seconds, processorSeconds, peakMemoryMiB, programMemoryMiB, bytes
    case deflateLevel, database, zlib
  }
}
