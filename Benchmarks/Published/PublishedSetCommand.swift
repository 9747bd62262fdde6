// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureNotification
import Foundation
import World

/// `firebreak-benchmarks set`: runs the published set of benchmarks and compares each figure with its target.
///
/// Each measurement is a process of its own. The command writes one JSON file per benchmark and a report in Markdown.
struct PublishedSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Run the published set of benchmarks and compare each figure with its target.",
    discussion: """
      Writes one JSON file per benchmark and report.md with date, processor, compiler and load. Takes some \
      minutes. Exits with 0 if every benchmark that this machine supports was run, whatever the figures are.
      """)

  @Option(help: "The folder for the results.")
  var output = "out/bench"

  @Option(help: "Run only the benchmarks whose name has this prefix.")
  var only = ""

  @Option(help: "The version of the compiler, for the report.")
  var compiler = "unknown"

  @OptionGroup var product: MeasuredProduct

  func run() async throws {
    let benchmarks = BenchmarkSuite.benchmarks.filter { $0.name.hasPrefix(only) }
    guard !benchmarks.isEmpty else {
      throw ValidationError("No benchmark is named \(only): omit --only to run all.")
    }
    let folder = URL(fileURLWithPath: output)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw ValidationError("\(output) cannot be created: choose another folder.")
    }
    let machine = BenchmarkMachine(compiler: compiler)
    let runner = BenchmarkRunner(folder: folder, executable: product.executable)
    var results = BenchmarkResults(isReferenceFamily: machine.isReferenceFamily)
    for (index, benchmark) in benchmarks.enumerated() {
      report("\(index + 1) of \(benchmarks.count): \(benchmark.name)")
      results[benchmark.name] = try await runner.run(benchmark)
    }
    let report = BenchmarkReport(
      date: SystemClock().now, machine: machine, finalLoad: BenchmarkMachine.load(),
      results: results)
    try Data(report.text.utf8).write(to: folder.appendingPathComponent("report.md"))
    print(report.text)
  }

  private func report(_ progress: String) {
    FileHandle.standardError.write(Data("\(progress)\n".utf8))
  }
}

/// The machine and the compiler of a set of figures.
struct BenchmarkMachine {
  let compiler: String
  /// The name that the kernel gives the processor, its family, and the tiers of the matching kernels.
  let processor: String
  /// True for AMD family 26 (Zen 5), the processor of the reference figures.
  let isReferenceFamily: Bool
  let cores: Int
  /// The load average of the last minute.
  let load: Double

  init(compiler: String) {
    self.compiler = compiler
    cores = ProcessInfo.processInfo.activeProcessorCount
    // Without the file, the processor of the report is unknown.
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    func first(_ field: String) -> String? {
      lines.split(separator: "\n").first { $0.hasPrefix(field) }?
        .split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    }
    let tiers = MatchTier.available.map(\.rawValue).joined(separator: ", ")
    processor =
      [first("model name") ?? "unknown", first("cpu family").map { "family \($0)" }]
      .compactMap(\.self).joined(separator: ", ") + "; tiers: \(tiers)"
    isReferenceFamily = first("vendor_id") == "AuthenticAMD" && first("cpu family") == "26"
    load = Self.load()
  }

  static func load() -> Double {
    var average = [0.0]
    return getloadavg(&average, 1) == 1 ? (average[0] * 100).rounded() / 100 : 0
  }
}
