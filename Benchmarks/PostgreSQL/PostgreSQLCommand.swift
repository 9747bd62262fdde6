// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import Foundation
import QuietHTTP
import Subprocess
import SystemPackage
import Terminal
import TestSupport
import World

/// `firebreak-benchmarks postgresql`: measures uploads to key servers with PostgreSQL beside one with SQLite.
struct PostgreSQLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgresql",
    abstract: "Measure uploads with PostgreSQL beside SQLite, by processes and stored keys.",
    discussion: """
      The command starts a PostgreSQL server of its own on a socket, whose commits are on the disk, and key servers as \
      other processes. Each measurement is a closed loop of uploads with 14 keys. Those with SQLite and PostgreSQL \
      follow each other, so that their ratios are of one run. The processor time is that of the key servers and of all \
      processes of PostgreSQL together. Targets are those of a comparable machine; a figure that fails one does not \
      change the exit status.
      """)

  private static let uploadCounts = 100...100_000
  private static let exportKeyCounts = 0...500_000
  private static let storedKeyCounts = 0...50_000_000

  @Option(help: "The uploads of each measurement.")
  var uploads = 10_000

  @Option(
    parsing: .upToNextOption,
    help: "The numbers of stored keys for the growth, in ascending order.")
  var storedKeys = [0, 1_000_000, 5_000_000, 12_000_000]

  @Option(
    parsing: .upToNextOption,
    help: "The same for SQLite, each with a database of its own; with one number, none.")
  var sqliteStoredKeys = [0, 2_500_000]

  @Option(help: "The keys of the export from PostgreSQL; 0 measures none.")
  var exportKeys = 500_000

  @OptionGroup var product: MeasuredProduct

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(uploads, Self.uploadCounts, "--uploads")
    try BenchLimit.check(exportKeys, Self.exportKeyCounts, "--export-keys")
    try Self.check(storedKeys, "--stored-keys")
    try Self.check(sqliteStoredKeys, "--sqlite-stored-keys")
  }

  private static func check(_ counts: [Int], _ option: String) throws {
    for count in counts { try BenchLimit.check(count, storedKeyCounts, option) }
    guard !counts.isEmpty, counts == counts.sorted() else {
      throw ValidationError("\(option) takes numbers in ascending order.")
    }
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    FileDescriptors.raiseLimit()
    let cluster = try await PrivatePostgreSQL(isDurable: true)
    let report = try await PostgreSQLBench(
      program: FilePath(product.executable.path), uploads: uploads, cluster: cluster
    ).run(storedKeys: storedKeys, sqliteStoredKeys: sqliteStoredKeys, exportKeys: exportKeys)
    try output.write(report)
    guard report.failed == 0 else {
      throw CommandFailure(status: .no, message: "\(report.failed) uploads were not accepted.")
    }
  }
}

/// The measurements with one PostgreSQL server.
struct PostgreSQLBench {
  let program: FilePath
  let uploads: Int
  let cluster: PrivatePostgreSQL

  /// The connections of the measurements.
  private static let few = 8
  private static let many = 32
  private static let warmUpUploads = 100
  /// The most that PostgreSQL needs in the second or two in which a server is found idle.
  private static let idleProcessorTime = Duration.milliseconds(50)
  private static let databaseName = "bench"
  private static let outputBytesMax = 1 << 20

  func run(
    storedKeys: [Int], sqliteStoredKeys: [Int], exportKeys: Int
  ) async throws -> PostgreSQLReport {
    // First, because its memory and time are those of processes of its own.
    let export = exportKeys > 0 ? try await export(exportKeys) : nil
    let sqlite = try await withServers(1, in: nil) { servers in
      (
        try await measure(servers, connections: Self.few),
        try await measure(servers, connections: Self.many)
      )
    }
    let database = BenchDatabase(address: try await cluster.createDatabase("first"))
    let postgreSQL = try await withServers(1, in: database) { servers in
      (
        try await measure(servers, connections: Self.few),
        try await measure(servers, connections: Self.many)
      )
    }
    let two = try await several(2, in: "second")
    let three = try await several(3, in: "third")
    return PostgreSQLReport(
      uploads: uploads, sqlite8: sqlite.0, sqlite32: sqlite.1, postgreSQL8: postgreSQL.0,
      postgreSQL32: postgreSQL.1, twoProcesses: two, threeProcesses: three,
      growth: try await growth(storedKeys),
      sqliteGrowth: try await sqliteGrowth(sqliteStoredKeys), export: export)
  }

  /// Measures `count` servers, which share the connections, with a database of their own.
  private func several(_ count: Int, in name: String) async throws -> MeasuredUploads {
    let database = BenchDatabase(address: try await cluster.createDatabase(name))
    return try await withServers(count, in: database) { servers in
      try await measure(servers, connections: Self.many / count)
    }
  }

  private func export(_ keyCount: Int) async throws -> PostgreSQLReport.Export {
    let address = try await cluster.createDatabase("export")
    let keys = ["--keys", "\(keyCount)"]
    try await firebreak(["bench", "export-fill", address, "--postgresql"] + keys)
    // As autovacuum does for the keys of hours.
    try await cluster.run("ANALYZE", in: "export")
    try await cluster.run("CHECKPOINT", in: "export")
    let start = cluster.processorTime
    let output = try await firebreak(
      ["bench", "export", "--database", address, "--filled", "--json"] + keys)
    let figures = try JSONDecoder().decode(MeasuredExport.self, from: Data(output.utf8))
    return PostgreSQLReport.Export(
      keys: keyCount, seconds: figures.seconds, serverSeconds: figures.processorSeconds,
      databaseSeconds: ((cluster.processorTime - start) / .seconds(1)).rounded(to: 2),
      ownMemoryMiB: figures.ownMemoryMiB, zlib: figures.zlib)
  }

  /// Runs the measured program, and returns what it printed.
  @discardableResult
  private func firebreak(_ arguments: [String]) async throws -> String {
    let run = try await Subprocess.run(
      .path(program), arguments: Arguments(arguments), output: .string(limit: Self.outputBytesMax),
      error: .string(limit: Self.outputBytesMax))
    guard run.terminationStatus.isSuccess else {
      throw CommandFailure(
        status: .machineFailed,
        message: "firebreak \(arguments.prefix(2).joined(separator: " ")): \(run.standardError)")
    }
    return run.standardOutput
  }

  private func sqliteGrowth(_ counts: [Int]) async throws -> [UploadGrowth] {
    guard counts.count > 1 else { return [] }
    var growth: [UploadGrowth] = []
    for count in counts {
      let uploads = try await PublishServerProcess.withRunning(by: program, storedKeys: count) {
        try await $0.waitUntilIdle()
        return try await measure([$0], connections: Self.many)
      }
      growth.append(UploadGrowth(storedKeys: count, uploads: uploads))
    }
    return growth
  }

  private func growth(_ counts: [Int]) async throws -> [UploadGrowth] {
    let database = BenchDatabase(address: try await cluster.createDatabase(Self.databaseName))
    // Creates the tables.
    try await withServers(1, in: database) { _ in }
    var (growth, stored): ([UploadGrowth], Int) = ([], 0)
    for count in counts {
      try await fill(from: stored, to: count)
      stored = count
      // A new server each time, as the keys of earlier days do not change while one runs.
      let uploads = try await withServers(1, in: database) { servers in
        try await warmUp(servers)
        return try await measure(servers, connections: Self.many)
      }
      growth.append(UploadGrowth(storedKeys: count, uploads: uploads))
    }
    return growth
  }

  /// Sends a few uploads, with which the server begins to read the keys of earlier days, and waits until it has read
  /// them: until neither the server nor PostgreSQL does anything.
  private func warmUp(_ servers: [PublishServerProcess]) async throws {
    let uploads = try await ClosedLoop(uploads: Self.warmUpUploads)
      .measure(servers, connections: Self.many)
    guard uploads.failed == 0 else {
      throw CommandFailure(
        status: .no, message: "\(uploads.failed) uploads before a measurement were not accepted.")
    }
    var earlier = Duration.zero
    repeat {
      earlier = cluster.processorTime
      for server in servers { try await server.waitUntilIdle() }
    } while cluster.processorTime - earlier > Self.idleProcessorTime
  }

  // MARK: - Servers

  /// Runs `body` with `count` servers in `database`; nil for SQLite.
  private func withServers<Result: Sendable>(
    _ count: Int, in database: BenchDatabase?, _ running: [PublishServerProcess] = [],
    _ body: ([PublishServerProcess]) async throws -> Result
  ) async throws -> Result {
    guard running.count < count else { return try await body(running) }
    return try await PublishServerProcess.withRunning(by: program, database: database) { server in
      try await withServers(count, in: database, running + [server], body)
    }
  }

  /// Sends the uploads over `connections` to each of `servers`, at the same time.
  private func measure(
    _ servers: [PublishServerProcess], connections: Int
  ) async throws -> MeasuredUploads {
    try await ClosedLoop(uploads: uploads) { cluster.processorTime }
      .measure(servers, connections: connections)
  }

  // MARK: - Stored keys

  /// The days over which the stored keys are spread, and the keys of one statement.
  private static let days = 14
  private static let keysPerStatement = 250_000

  /// Stores keys of the last two weeks without uploads.
  private func fill(from first: Int, to end: Int) async throws {
    guard end > first else { return }
    let bar = ProgressLine("keys")
    defer { bar.clear() }
    let day = Int(SystemClock().now.timeIntervalSince1970) / 86_400
    for day in day - Self.days..<day {
      try await cluster.run("SELECT create_key_partition(\(day))", in: Self.databaseName)
    }
    for start in stride(from: first, to: end, by: Self.keysPerStatement) {
      bar.show(start, of: end)
      let last = min(start + Self.keysPerStatement, end) - 1
      try await cluster.run(
        """
        INSERT INTO diagnosis_key (key_data, stored_day, released_at, checksum, rolling_start,
          rolling_period, transmission_risk, travels, is_padding, regions)
        SELECT decode(md5('key ' || i), 'hex'), \(day) - 1 - i % \(Self.days),
          (\(day) - 1 - i % \(Self.days)) * 86400::bigint, 0,
          (\(day) - 2 - i % \(Self.days)) * 144::bigint, 144, 0, false, false, 'PL'
        FROM generate_series(\(start), \(last)) AS i
        """, in: Self.databaseName)
    }
    try await cluster.run("ANALYZE", in: Self.databaseName)
    // Otherwise the pages of these keys are written while uploads are measured.
    try await cluster.run("CHECKPOINT", in: Self.databaseName)
  }
}
