// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import Foundation
import QuietHTTP
import Subprocess
import SystemPackage
import Terminal

/// `firebreak-benchmarks key-server`: measures what a key server with SQLite does, beside the targets.
struct KeyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key-server",
    abstract: "Measure a key server with SQLite: index, import, match, export, uploads, growth.",
    discussion: """
      Each measurement is short and alone on the machine; 0 leaves it out. The server is another process, and its \
      database is on the disk. Ratios are of one run. Targets are those of a comparable machine; a figure that fails \
      one does not change the exit status.
      """)

  private static let requestCounts = 0...10_000_000
  private static let uploadCounts = 0...100_000
  private static let storedKeyCounts = 0...50_000_000

  @Option(help: "The requests for an index that the client has, to the server and to nginx.")
  var indexRequests = 100_000

  @Option(help: "The keys of the imported file, at most 500,000.")
  var importKeys = 100_000

  @Option(help: "The keys to match, five times from a file and from a zip in alternation.")
  var matchKeys = 1_000_000

  @Option(help: "The keys of the exported file, at most 500,000. The time of zlib is that for it.")
  var exportKeys = 500_000

  @Option(help: "The uploads over 8 and over 32 connections, and with each number of stored keys.")
  var uploads = 10_000

  @Option(
    parsing: .upToNextOption,
    help: "The numbers of stored keys, each in a database of its own; with one number, none.")
  var storedKeys = [0, 2_500_000]

  @OptionGroup var product: MeasuredProduct

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(indexRequests, Self.requestCounts, "--index-requests")
    try BenchLimit.check(importKeys, 0...ImportBench.keyCounts.upperBound, "--import-keys")
    try BenchLimit.check(matchKeys, 0...BenchLimit.keys.upperBound, "--match-keys")
    try BenchLimit.check(exportKeys, 0...ImportBench.keyCounts.upperBound, "--export-keys")
    try BenchLimit.check(uploads, Self.uploadCounts, "--uploads")
    for count in storedKeys {
      try BenchLimit.check(count, Self.storedKeyCounts, "--stored-keys")
    }
    guard !storedKeys.isEmpty, storedKeys == storedKeys.sorted() else {
      throw ValidationError("--stored-keys takes numbers in ascending order.")
    }
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    FileDescriptors.raiseLimit()
    let bench = KeyServerBench(program: FilePath(product.executable.path), uploads: uploads)
    let index = indexRequests > 0 ? try await bench.index(indexRequests) : nil
    let imported = importKeys > 0 ? try await bench.imported(importKeys) : nil
    let match = matchKeys > 0 ? try await bench.match(matchKeys) : nil
    let exported = exportKeys > 0 ? try await bench.exported(exportKeys) : nil
    let tails = uploads > 0 ? try await bench.tails() : nil
    let growth = uploads > 0 && storedKeys.count > 1 ? try await bench.growth(storedKeys) : []
    let report = KeyServerReport(
      index: index, imported: imported, match: match, exported: exported, few: tails?.few,
      many: tails?.many, growth: growth)
    try output.write(report)
    guard report.failed == 0 else {
      throw CommandFailure(status: .no, message: "\(report.failed) uploads were not accepted.")
    }
  }
}

/// The measurements of one program.
struct KeyServerBench {
  /// A `firebreak`.
  let program: FilePath
  /// The uploads of each measurement.
  let uploads: Int

  /// The connections of the measurements of uploads.
  private static let connections = (few: 8, many: 32)
  private static let matchRuns = 5
  private static let sightings = 20_000
  private static let outputBytesMax = 1 << 20

  // MARK: - Index

  func index(_ requests: Int) async throws -> KeyServerReport.Index {
    let own = try await PublishServerProcess.withRunning(by: program) { server in
      try await microseconds(
        requests, of: server.processID,
        IndexLoad(host: server.target.host, port: server.target.port))
    }
    let nginx = try await NginxProcess.withRunning { port, processID in
      try await microseconds(
        requests, of: processID, IndexLoad(host: NginxProcess.host, port: port))
    }
    return KeyServerReport.Index(
      requests: requests, microseconds: own, nginxMicroseconds: nginx)
  }

  /// The processor time by request of the process that serves an index.
  private func microseconds(
    _ requests: Int, of processID: pid_t, _ load: IndexLoad
  ) async throws -> Double {
    let connections = Self.connections.few
    let each = max(1, requests / connections)
    // The first requests include the start of threads and the first read of the file.
    _ = try await load.send(max(1, each / 20), connections: connections)
    let clock = CPUClock(process: processID)
    let start = clock?.now
    let responses = try await load.send(each, connections: connections)
    guard let start, let end = clock?.now else {
      throw CommandFailure(
        status: .machineFailed,
        message: "The processor time of the process \(processID) cannot be read.")
    }
    guard responses.others == 0, responses.unchanged > 0 else {
      throw CommandFailure(
        status: .no, message: "\(responses.others) responses of the index were not 304.")
    }
    return ((end - start) / .microseconds(responses.unchanged)).rounded(to: 1)
  }

  // MARK: - Files

  func imported(_ keys: Int) async throws -> KeyServerReport.File {
    let figures = try await ImportBench.run(keyCount: keys)
    return KeyServerReport.File(
      keys: keys, seconds: figures.seconds, processorSeconds: figures.processorSeconds,
      ownMemoryMiB: nil, zlib: nil)
  }

  func exported(_ keys: Int) async throws -> KeyServerReport.File {
    let figures: MeasuredExport = try await bench(["export", "--keys", "\(keys)"])
    return KeyServerReport.File(
      keys: keys, seconds: figures.seconds, processorSeconds: figures.processorSeconds,
      ownMemoryMiB: figures.ownMemoryMiB, zlib: figures.zlib)
  }

  /// The figures that `firebreak bench match` prints.
  private struct MatchFigures: Decodable {
    struct Nanoseconds: Decodable {
      let cpu: Double
    }

    let nanosecondsPerKey: Nanoseconds
  }

  func match(_ keys: Int) async throws -> KeyServerReport.Match {
    var (files, zips): ([Double], [Double]) = ([], [])
    for _ in 0..<Self.matchRuns {
      files.append(try await nanoseconds(keys, from: "file"))
      zips.append(try await nanoseconds(keys, from: "zip"))
    }
    return KeyServerReport.Match(
      keys: keys, fileNanoseconds: Distribution(files).median,
      zipNanoseconds: Distribution(zips).median,
      differenceNanoseconds: Distribution(zip(zips, files).map { $0 - $1 }).median)
  }

  private func nanoseconds(_ keys: Int, from source: String) async throws -> Double {
    let figures: MatchFigures = try await bench([
      "match", "--keys", "\(keys)", "--sightings", "\(Self.sightings)", "--from", source,
      "--threads", "1",
    ])
    return figures.nanosecondsPerKey.cpu
  }

  /// Runs `firebreak bench` and reads what it prints.
  private func bench<Figures: Decodable>(_ arguments: [String]) async throws -> Figures {
    let run = try await Subprocess.run(
      .path(program), arguments: Arguments(["bench"] + arguments + ["--json"]),
      output: .string(limit: Self.outputBytesMax), error: .string(limit: Self.outputBytesMax))
    guard run.terminationStatus.isSuccess else {
      throw CommandFailure(
        status: .machineFailed, message: "firebreak bench \(arguments[0]): \(run.standardError)")
    }
    return try JSONDecoder().decode(Figures.self, from: Data(run.standardOutput.utf8))
  }

  // MARK: - Uploads

  func tails() async throws -> (few: MeasuredUploads, many: MeasuredUploads) {
    let loop = ClosedLoop(uploads: uploads)
    return try await PublishServerProcess.withRunning(by: program) { server in
      (
        try await loop.measure([server], connections: Self.connections.few),
        try await loop.measure([server], connections: Self.connections.many)
      )
    }
  }

  func growth(_ counts: [Int]) async throws -> [UploadGrowth] {
    var growth: [UploadGrowth] = []
    for count in counts {
      let measured = try await PublishServerProcess.withRunning(by: program, storedKeys: count) {
        try await $0.waitUntilIdle()
        return try await ClosedLoop(uploads: uploads)
          .measure([$0], connections: Self.connections.many)
      }
      growth.append(UploadGrowth(storedKeys: count, uploads: measured))
    }
    return growth
  }
}
