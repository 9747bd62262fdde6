// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import Foundation
import Subprocess
import SystemPackage
import Terminal
import TestSupport
import TextEncodings

/// `firebreak-benchmarks populations`: measures `firebreak simulate`.
struct PopulationsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "populations",
    abstract: "Measure the time and the memory of firebreak simulate.",
    discussion: """
      Everybody has a phone; all else is as in an empty scenario. A tenth of the phones is simulated first, and the \
      memory of a phone is the difference of the peaks of both runs over that of the phones.
      """)

  private static let phoneCounts = 100...100_000
  private static let dayCounts = 1...28

  @Option(help: "The number of phones.")
  var phones = 1_000

  @Option(help: "The simulated days.")
  var days = 3

  @Option(help: "The number of threads that compute phones.")
  var threads = 1

  @Option(help: "The firebreak executable; by default the one beside this program.")
  var firebreak: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    try BenchLimit.check(phones, Self.phoneCounts, "--phones")
    try BenchLimit.check(days, Self.dayCounts, "--days")
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let executable =
      firebreak.map { URL(fileURLWithPath: $0) } ?? FirebreakBenchmarks.productBeside
    let bench = PopulationsBench(executable: executable, days: days, threads: threads)
    let report = try await bench.run(phones: phones)
    try json ? printJSON(report) : StandardOutput.write(report.text)
  }
}

/// Two runs of `firebreak simulate`.
struct PopulationsBench {
  let executable: URL
  let days: Int
  let threads: Int

  /// The phones for each of the smaller run.
  private static let phonesOverSmallerRun = 10
  private static let outputBytesMax = 1 << 20

  private struct Run {
    let summary: JSONValue?
    let seconds: Duration
    let processor: Duration
    let peakBytes: Int
  }

  func run(phones: Int) async throws -> PopulationsReport {
    let fewer = phones / Self.phonesOverSmallerRun
    // The smaller one first: the system reports the largest peak of all runs so far.
    let small = try await simulate(people: fewer)
    let large = try await simulate(people: phones)
    let scansName = "receivingScansPerPhoneAndDay"
    guard let scans = large.summary?["runs"]?.elements.first?[scansName]?.number else {
      throw CommandFailure.machineFailed("The summary of firebreak simulate has no \(scansName).")
    }
    let bytes = Double(large.peakBytes - small.peakBytes) / Double(phones - fewer)
    return PopulationsReport(
      phones: phones, days: days, threads: threads,
      personDaysPerProcessorSecond: (Double(phones * days) / (large.processor / .seconds(1)))
        .rounded(to: 1),
      processorSeconds: (large.processor / .seconds(1)).rounded(to: 1),
      seconds: (large.seconds / .seconds(1)).rounded(to: 1),
      memoryPerPhoneKiB: (bytes / 1_024).rounded(to: 1),
      peakMemoryMiB: (Double(large.peakBytes) / 1_048_576).rounded(to: 1),
      receivingScansPerPhoneAndDay: scans)
  }

  private func simulate(people: Int) async throws -> Run {
    let folder = try TemporaryFolder()
    let scenario = folder.path("scenario.json")
    try #"{"days": \#(days), "contacts": {"people": \#(people)}, "adoption": [1]}"#
      .write(to: scenario, atomically: true, encoding: .utf8)
    let (start, before) = (ContinuousClock.now, Self.children.processor)
    let run = try await Subprocess.run(
      .path(FilePath(executable.path)),
      arguments: [
        "simulate", scenario.path, "--json", "--threads", "\(threads)", "--output",
        folder.path("results").path,
      ], output: .string(limit: Self.outputBytesMax), error: .string(limit: Self.outputBytesMax))
    guard run.terminationStatus.isSuccess else {
      throw CommandFailure.machineFailed("firebreak simulate failed: \(run.standardError)")
    }
    return Run(
      summary: JSONValue(text: run.standardOutput), seconds: ContinuousClock.now - start,
      processor: Self.children.processor - before, peakBytes: Self.children.peakBytes)
  }

  /// The processor time of all child processes that have ended, and the largest peak of their resident memory.
  private static var children: (processor: Duration, peakBytes: Int) {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    func duration(_ time: timeval) -> Duration {
      .seconds(time.tv_sec) + .microseconds(Int64(time.tv_usec))
    }
    return (duration(usage.ru_utime) + duration(usage.ru_stime), usage.ru_maxrss << 10)
  }
}

/// The result of `populations`, as `--json` prints it.
struct PopulationsReport: Encodable {
  let build = BuildKind.current
  let phones: Int
  let days: Int
  let threads: Int
  /// Days of a phone over the processor time of the process, with that of the servers and of the run without the app.
  let personDaysPerProcessorSecond: Double
  let processorSeconds: Double
  let seconds: Double
  let memoryPerPhoneKiB: Double
  let peakMemoryMiB: Double
  let receivingScansPerPhoneAndDay: Double

  var text: String {
    """
    phones      \(phones) for \(days == 1 ? "1 day" : "\(days) days"), threads: \(threads)
    time        \(seconds) s, \(processorSeconds) s of processor time
    speed       \(personDaysPerProcessorSecond) days of a phone per processor second
    memory      \(memoryPerPhoneKiB) KiB per phone, \(peakMemoryMiB) MiB in all
    contacts    \(receivingScansPerPhoneAndDay) scans per phone and day received others
    """
  }

  private enum CodingKeys: CodingKey {
    case build, phones, days, threads, personDaysPerProcessorSecond, processorSeconds, seconds
    case memoryPerPhoneKiB, peakMemoryMiB, receivingScansPerPhoneAndDay
  }
}
