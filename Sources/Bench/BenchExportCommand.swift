// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import PostgreSQL
import Subprocess
import SystemPackage
import Terminal
import World

/// `firebreak bench export`: measures an export from committed rows to the synced zip and index.
struct BenchExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Measure the time and memory of an export.",
    discussion: """
      Another process creates and commits the keys. The measurement covers the work of the key server at \
      the end of a period: close it, read, encode, hash, deflate and sign the keys, write, sync and rename \
      the zip and the index. The memory is the peak of the whole process, the processor time that of all its threads.
      """)

  @Option(help: "The number of keys, 1 to 500,000 (one file).")
  var keys = 500_000

  @Option(
    help: ArgumentHelp(
      "An empty database in PostgreSQL, which keeps the keys; its password is in PGPASSWORD. By default SQLite.",
      valueName: "url"))
  var database: String?

  @Flag(help: ArgumentHelp("The database has the keys already.", visibility: .hidden))
  var filled = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard ExportBench.keyCounts.contains(keys) else {
      throw ValidationError(
        "--keys must be between \(ExportBench.keyCounts.lowerBound) and "
          + "\(ExportBench.keyCounts.upperBound).")
    }
    if let database {
      do { _ = try PostgreSQLAddress(database) } catch {
        throw ValidationError("--database: \(error)")
      }
    }
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let report = try await ExportBench(keyCount: keys, database: database, isFilled: filled).run()
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

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
    return ExportBenchReport(
      keys: keyCount, seconds: (duration / .seconds(1)).rounded(to: 3),
      processorSeconds: (processor / .seconds(1)).rounded(to: 3),
      peakMemoryMiB: (Double(memory.peak) / Double(1 << 20)).rounded(to: 1),
      bytes: size?.intValue ?? 0, database: database == nil ? "sqlite" : "postgresql")
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
  /// The size of the zip.
  let bytes: Int
  let deflateLevel = KeyFileWriter.deflateLevel
  /// The kind of the database: `sqlite` or `postgresql`.
  let database: String

  var text: String {
    """
    \(keys) keys from \(database == "sqlite" ? "SQLite" : "PostgreSQL") to a signed zip of \(bytes) bytes \
    (deflate level \(deflateLevel))
    \(seconds) s, processor time \(processorSeconds) s, at most \(peakMemoryMiB) MiB
    """
  }

  private enum CodingKeys: CodingKey {
    case build, keys, seconds, processorSeconds, peakMemoryMiB, bytes, deflateLevel, database
  }
}

/// Creates the keys that `bench export` exports, in a process of its own. Hidden from the help.
struct BenchExportFillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-fill", abstract: "Create the keys for `bench export`.",
    shouldDisplay: false)

  @Argument var database: String
  /// True if the database is an address, false if it is a file.
  @Flag(name: .customLong("postgresql")) var isPostgreSQL = false
  @Option var keys: Int
  /// The start of the period, in Unix seconds.
  @Option var start = ExportBench.start.unixSecond

  /// Creates keys in another process, so that its memory and caches do not count.
  static func fill(
    _ database: String, isPostgreSQL: Bool = false, by program: FilePath = .currentExecutable,
    keyCount: Int, releasedFrom: Date
  ) async throws {
    let fill = try await Subprocess.run(
      .path(program),
      arguments: Arguments(
        [
          "bench", "export-fill", database, "--keys", "\(keyCount)", "--start",
          "\(releasedFrom.unixSecond)",
        ] + (isPostgreSQL ? ["--postgresql"] : [])), output: .discarded,
      error: .string(limit: BenchLimit.errorByteCountMax))
    guard fill.terminationStatus.isSuccess else {
      throw CommandFailure.ofProcess("The keys could not be created", errors: fill.standardError)
    }
  }

  func run() async throws {
    let start = Date(unixSecond: start)
    let address = isPostgreSQL ? try PostgreSQLAddress(database) : nil
    try await ExportWorkload.forEachPart(
      of: keys, releasedFrom: start, randomness: SystemRandomness()
    ) { keys in
      if let address {
        try await KeyServer.insert(
          keys, of: ExportBench.region, into: address, at: start, logger: .silent)
      } else {
        try KeyServer.insert(
          keys, of: ExportBench.region, into: URL(fileURLWithPath: database), at: start)
      }
    }
  }
}

/// Random keys that are released in one period, for the measurement of an export.
enum ExportWorkload {
  private static let keysInOneCommit = 20_000

  /// Calls `body` with parts of `keyCount` keys of the last 14 days, which are released in the four hours from `start`
  /// and have all fields that an upload sets.
  static func forEachPart(
    of keyCount: Int, releasedFrom start: Date, randomness: any Randomness,
    _ body: ([(key: DiagnosisKey, releasedAt: Date)]) async throws -> Void
  ) async throws {
    for first in stride(from: 0, to: keyCount, by: keysInOneCommit) {
      let keys = (first..<min(first + keysInOneCommit, keyCount)).compactMap { number in
        key(number, before: start, randomness).map {
          (key: $0, releasedAt: start.addingTimeInterval(Double(number % 4) * 3_600))
        }
      }
      try await body(keys)
    }
  }

  private static func key(
    _ number: Int, before start: Date, _ randomness: any Randomness
  ) -> DiagnosisKey? {
    let day = UInt32(number % 14)
    return IntervalNumber(start).flatMap {
      TemporaryExposureKey(
        bytes: randomness.bytes(TemporaryExposureKey.byteCount),
        rollingStart: IntervalNumber(rawValue: $0.rawValue - (day + 1) * IntervalNumber.perDay))
    }.flatMap {
      DiagnosisKey(
        key: $0, transmissionRiskLevel: 8, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: Int32(day) - 7)
    }
  }
}

/// A clock that does not move, so that exactly one period has ended.
struct FixedClock: WallClock {
  let now: Date

  func sleep(until deadline: Date) async throws {
    while true { try await Task.sleep(for: .seconds(60)) }
  }
}
