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
  private static let threadCounts = 1...256

  @Option(help: "The number of phones.")
  var phones = 1_000

  @Option(help: "The simulated days.")
  var days = 3

  @Option(help: "The number of threads that compute phones.")
  var threads = 1

  @OptionGroup var product: MeasuredProduct

  @OptionGroup var output: MeasurementOutput

  func validate() throws {
    try BenchLimit.check(phones, Self.phoneCounts, "--phones")
    try BenchLimit.check(days, Self.dayCounts, "--days")
    try BenchLimit.check(threads, Self.threadCounts, "--threads")
  }

  func run() async throws {
    BuildKind.warnUnlessRelease()
    let bench = PopulationsBench(
      executable: product.executable, days: days, threads: threads)
    let report = try await bench.run(phones: phones)
    try output.write(report)
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

  func run(phones: Int) async throws -> PopulationsReport {
    // The smaller one first: the system reports the largest peak of all runs so far.
    let small = try await simulate(people: phones / Self.phonesOverSmallerRun)
    let large = try await simulate(people: phones)
    return try PopulationsReport(days: days, threads: threads, small: small, large: large)
  }

  private func simulate(people: Int) async throws -> SimulatedPopulation {
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
    return try SimulatedPopulation(
      phones: people, summary: run.standardOutput, seconds: ContinuousClock.now - start,
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

/// One run of `firebreak simulate`.
struct SimulatedPopulation {
  let phones: Int
  let receivingScansPerPhoneAndDay: Double
  let seconds: Duration
  let processor: Duration
  let peakBytes: Int

  /// - Parameter summary: The JSON that the run has printed.
  /// - Throws: `CommandFailure` if the summary is of another number of phones or states no scans.
  init(
    phones: Int, summary: String, seconds: Duration, processor: Duration, peakBytes: Int
  ) throws {
    let runs = JSONValue(text: summary)?["runs"]?.elements ?? []
    guard runs.count == 1, runs[0]["phones"]?.integer == phones,
      let scans = runs[0]["receivingScansPerPhoneAndDay"]?.number
    else {
      throw CommandFailure.machineFailed(
        """
        firebreak simulate printed no run of \(phones) phones with receivingScansPerPhoneAndDay: \
        build firebreak and firebreak-benchmarks from one version.
        """)
    }
    self.phones = phones
    receivingScansPerPhoneAndDay = scans
    self.seconds = seconds
    self.processor = processor
    self.peakBytes = peakBytes
  }
}

/// The result of `populations`, as `--json` prints it.
struct PopulationsReport: MeasurementReport {
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

  /// - Throws: `CommandFailure` if a figure was not measured.
  init(days: Int, threads: Int, small: SimulatedPopulation, large: SimulatedPopulation) throws {
    guard large.peakBytes > small.peakBytes, large.processor > .zero else {
      throw CommandFailure.machineFailed(
        """
        The runs of \(small.phones) and \(large.phones) phones do not differ in memory or took no processor time: \
        simulate more phones.
        """)
    }
    let processor = large.processor / .seconds(1)
    let bytes = Double(large.peakBytes - small.peakBytes) / Double(large.phones - small.phones)
    phones = large.phones
    self.days = days
    self.threads = threads
    personDaysPerProcessorSecond = (Double(large.phones * days) / processor).rounded(to: 1)
    processorSeconds = processor.rounded(to: 1)
    seconds = (large.seconds / .seconds(1)).rounded(to: 1)
    memoryPerPhoneKiB = (bytes / 1_024).rounded(to: 1)
    peakMemoryMiB = (Double(large.peakBytes) / 1_048_576).rounded(to: 1)
    receivingScansPerPhoneAndDay = large.receivingScansPerPhoneAndDay
  }

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
