// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import Foundation
import QuietHTTP
import SystemPackage
import Terminal
import World

/// `firebreak-benchmarks overload`: measures a key server at half and at twice the rate that it sustains.
struct OverloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "overload",
    abstract: "Measure latency and refusals at half and at twice the sustainable rate.",
    discussion: """
      First a closed loop over 32 connections measures the rate that a key server sustains. Then uploads are sent \
      at half that rate in three rounds, and at twice that rate, however long responses take, over as many \
      connections as that needs. A latency counts from the moment at which the upload was due. Of the three rounds \
      the one with the median ratio of p99 to p50 counts. The disk is measured before, without the server.
      """)

  /// The seconds at each rate: the uploads are held in memory.
  private static let secondCounts = 2...30
  private static let storedKeyCounts = 0...5_000_000

  @Option(help: "The seconds at each rate.")
  var seconds = 10

  @Option(help: "The keys in the database before the first upload.")
  var storedKeys = 0

  @OptionGroup var product: MeasuredProduct

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(seconds, Self.secondCounts, "--seconds")
    try BenchLimit.check(storedKeys, Self.storedKeyCounts, "--stored-keys")
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    FileDescriptors.raiseLimit()
    let disk = try await DiskSync(in: FileManager.default.temporaryDirectory)
    let report = try await PublishServerProcess.withRunning(
      by: FilePath(product.executable.path), storedKeys: storedKeys
    ) { server in
      try await OverloadBench(
        target: server.target, disk: disk, seconds: seconds, storedKeys: storedKeys
      ).run()
    }
    try output.write(report)
    guard report.failed == 0 else {
      throw CommandFailure(
        status: .no, message: "Some uploads got no response, or 503 without Retry-After.")
    }
  }
}

/// One measurement of a key server.
struct OverloadBench {
  let target: PublishTarget
  let disk: DiskSync
  let seconds: Int
  let storedKeys: Int

  /// The connections and uploads that measure the sustainable rate.
  private static let connections = 32
  private static let sustainedUploads = 10_000
  /// The rounds at half the rate: a disk may stall in one of them.
  private static let calmRounds = 3

  func run() async throws -> OverloadReport {
    let bar = ProgressLine("uploads")
    defer { bar.clear() }
    let rate = try await sustainedRate(bar)
    var calm: [OverloadReport.Phase] = []
    for _ in 0..<Self.calmRounds { calm.append(try await open(at: rate / 2, bar)) }
    let overload = try await open(at: rate * 2, bar)
    return OverloadReport(
      storedKeys: storedKeys, disk: disk, sustainedPerSecond: rate.rounded(to: 1),
      calmRounds: calm, overload: overload)
  }

  private func sustainedRate(_ bar: ProgressLine) async throws -> Double {
    let load = UploadLoad(target: target, connections: Self.connections)
    let uploads = try await made(Self.connections + Self.sustainedUploads, bar)
    _ = try await load.send(Array(uploads.prefix(Self.connections)))
    bar.show("Measuring the sustained rate")
    let start = ContinuousClock.now
    let exchanges = try await load.send(Array(uploads.dropFirst(Self.connections)))
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    guard exchanges.allSatisfy({ $0.response?.status == 200 }) else {
      throw CommandFailure(
        status: .no, message: "The server refused uploads of a closed loop: try again.")
    }
    return Double(exchanges.count) / seconds
  }

  private func open(at rate: Double, _ bar: ProgressLine) async throws -> OverloadReport.Phase {
    let count = min(Int(rate * Double(seconds)), BenchLimit.requests.upperBound)
    let uploads = try await made(count, bar)
    bar.show("Sending \(Int(rate)) uploads per second for \(seconds) seconds")
    return OverloadReport.Phase(
      await OpenLoad.send(uploads, to: target, rate: rate), offered: rate)
  }

  private func made(_ count: Int, _ bar: ProgressLine) async throws -> [PreparedUpload] {
    let maker = try UploadMaker(
      target, keysPerUpload: 14, clock: SystemClock(), randomness: SystemRandomness())
    return try await maker.uploads(count, bar)
  }
}

/// The result of `overload`, as `--json` prints it.
struct OverloadReport: MeasurementReport {
  /// The responses to uploads at one rate.
  struct Phase: Encodable {
    let offeredPerSecond: Double
    let acceptedPerSecond: Double
    let acceptedP50Milliseconds: Double
    let acceptedP99Milliseconds: Double
    /// The number of accepted uploads in the slowest second.
    let acceptedInSlowestSecond: Int
    let refused: Int
    let refusedP99Milliseconds: Double
    /// Uploads without a response, with 503 without `Retry-After`, or with another response than 200.
    let failed: Int

    /// The p99 of accepted uploads divided by their median.
    var ratio: Double {
      (acceptedP99Milliseconds / max(acceptedP50Milliseconds, 0.1)).rounded(to: 1)
    }
  }

  let build = BuildKind.current
  let storedKeys: Int
  /// The disk without the server.
  let disk: DiskSync
  let sustainedPerSecond: Double
  /// The round with the median ratio at half the sustainable rate.
  let calm: Phase
  /// The ratios of p99 to p50 of all these rounds, ascending.
  let calmRatios: [Double]
  /// At twice the sustainable rate.
  let overload: Phase
  /// The failed uploads of all rounds.
  let failed: Int

  /// - Parameter calmRounds: At least one.
  init(
    storedKeys: Int, disk: DiskSync, sustainedPerSecond: Double, calmRounds: [Phase],
    overload: Phase
  ) {
    let sorted = calmRounds.sorted { $0.ratio < $1.ratio }
    self.storedKeys = storedKeys
    self.disk = disk
    self.sustainedPerSecond = sustainedPerSecond
    calm = sorted[sorted.count / 2]
    calmRatios = sorted.map(\.ratio)
    self.overload = overload
    failed = (sorted + [overload]).reduce(0) { $0 + $1.failed }
  }

  var text: String {
    """
    disk        \(disk.text)
    sustained   \(sustainedPerSecond) uploads per second, \(storedKeys) keys stored before
    half        \(calm.text)
                p99 divided by p50 in each round: \(calmRatios.map { "\($0)" }.joined(separator: ", "))
    twice       \(overload.text)
    """
  }

  private enum CodingKeys: CodingKey {
    case build, storedKeys, disk, sustainedPerSecond, calm, calmRatios, overload
  }
}

extension OverloadReport.Phase {
  fileprivate init(_ responses: [OpenLoad.Outcome], offered: Double) {
    let accepted = responses.filter { $0.status == 200 }
    let refused = responses.filter { $0.status == 503 && $0.hasRetryAfter }
    func milliseconds(_ outcomes: [OpenLoad.Outcome]) -> Distribution {
      Distribution(outcomes.map { $0.time / .milliseconds(1) })
    }
    let times = milliseconds(accepted)
    let seconds = Double(max(1, responses.count)) / offered
    offeredPerSecond = offered.rounded(to: 1)
    acceptedPerSecond = (Double(accepted.count) / seconds).rounded(to: 1)
    acceptedP50Milliseconds = times.percentile(50).rounded(to: 1)
    acceptedP99Milliseconds = times.percentile(99).rounded(to: 1)
    acceptedInSlowestSecond = Self.slowestSecond(accepted, of: Int(seconds))
    self.refused = refused.count
    refusedP99Milliseconds = milliseconds(refused).percentile(99).rounded(to: 1)
    failed = responses.count - accepted.count - refused.count
  }

  /// The first second is not counted, because its first responses are those of an idle server.
  private static func slowestSecond(_ accepted: [OpenLoad.Outcome], of seconds: Int) -> Int {
    var counts = Array(repeating: 0, count: max(1, seconds))
    for outcome in accepted {
      let second = Int(outcome.sinceStart / .seconds(1))
      if counts.indices.contains(second) { counts[second] += 1 }
    }
    return counts.dropFirst().min() ?? counts[0]
  }

  var text: String {
    """
    \(offeredPerSecond) offered, \(acceptedPerSecond) accepted per second (\(acceptedInSlowestSecond) in the slowest), \
    p50 \(acceptedP50Milliseconds) ms, p99 \(acceptedP99Milliseconds) ms
                \(refused) refused with 503 and Retry-After, p99 \(refusedP99Milliseconds) ms; \(failed) failed
    """
  }
}

/// The time that the disk alone needs to sync a small write, for comparison with the latency of uploads.
struct DiskSync: Encodable {
  let p50Milliseconds: Double
  let p99Milliseconds: Double
  let longestMilliseconds: Double

  /// About the size of a commit of some uploads.
  private static let writeBytes = 16 << 10
  private static let duration = Duration.seconds(2)
  /// The pause between two writes, so that the disk is loaded as lightly as at half the sustainable rate.
  private static let pause = Duration.milliseconds(2)

  /// Measures the disk of `folder` for two seconds, with a file that is removed afterwards.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  init(in folder: URL) async throws {
    let file = folder.appendingPathComponent("firebreak-disk-\(UUID().uuidString)")
    defer { FileManager.default.removeUnneeded(file) }
    let distribution: Distribution
    do {
      try Data().write(to: file)
      distribution = Distribution(try await Self.times(in: file))
    } catch let error where !(error is CancellationError) {
      throw CommandFailure(
        status: .machineFailed,
        message: "The disk of \(folder.path.printable) cannot be measured: check its free space.")
    }
    p50Milliseconds = distribution.median.rounded(to: 2)
    p99Milliseconds = distribution.percentile(99).rounded(to: 2)
    longestMilliseconds = distribution.maximum.rounded(to: 2)
  }

  /// The times of the writes, in milliseconds.
  private static func times(in file: URL) async throws -> [Double] {
    let handle = try FileHandle(forWritingTo: file)
    let bytes = Data(repeating: 1, count: writeBytes)
    let end = ContinuousClock.now + duration
    var times: [Double] = []
    while .now < end {
      let start = ContinuousClock.now
      try handle.write(contentsOf: bytes)
      guard fdatasync(handle.fileDescriptor) == 0 else { throw POSIXError(.EIO) }
      times.append((ContinuousClock.now - start) / .milliseconds(1))
      try await Task.sleep(for: pause)
    }
    return times
  }

  var text: String {
    "p50 \(p50Milliseconds) ms, p99 \(p99Milliseconds) ms, longest \(longestMilliseconds) ms"
  }
}
