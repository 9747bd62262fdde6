// SPDX-License-Identifier: Apache-2.0
import Foundation
import Subprocess
import SystemPackage

/// One benchmark of the published set.
struct Benchmark: Sendable {
  /// The name, which is also that of its JSON file.
  let name: String
  let description: String
  /// The program that measures.
  let program: Program
  /// The number of runs; the median run counts.
  let runs: Int
  /// The figure by which runs are ordered.
  let figure: BenchmarkFigure

  enum Program: Sendable {
    /// `firebreak bench` with these arguments.
    case product([String])
    /// This program with these arguments.
    case own([String])
    /// The web app in a browser.
    case browser
  }

  /// - Parameters:
  ///   - name: The name.
  ///   - description: A few words about the workload.
  ///   - arguments: The arguments, separated by spaces.
  ///   - isOwn: True for arguments of this program, false for those of `firebreak bench`.
  ///   - runs: The number of runs.
  ///   - figure: The figure by which runs are ordered.
  init(
    _ name: String, _ description: String, _ arguments: String, isOwn: Bool = false,
    runs: Int = 3, by figure: BenchmarkFigure = .cpu
  ) {
    self.name = name
    self.description = description
    let words = arguments.split(separator: " ").map(String.init)
    program = isOwn ? .own(words) : .product(words)
    self.runs = runs
    self.figure = figure
  }

  /// The web app in a browser.
  static let webApp = Benchmark(browser: "web-app", "in headless Chromium, empty cache")

  private init(browser name: String, _ description: String) {
    (self.name, self.description, program) = (name, description, .browser)
    // A run loads the page several times.
    (runs, figure) = (1, .firstPaint)
  }
}

/// The path of a figure in the JSON object that a benchmark prints.
enum BenchmarkFigure: String, Sendable {
  case cpu = "nanosecondsPerKey.cpu"
  case wall = "nanosecondsPerKey.wall"
  case limit = "limitNanosecondsPerKey.total"
  case schedule = "limitNanosecondsPerKey.schedule"
  case blocks = "limitNanosecondsPerKey.blocks"
  case gainOverOneThread
  case limitScaling = "limitOnThreads.scaling"
  case medianLimitScaling = "limitOnThreads.medianScaling"
  case peak = "peakMemoryMiB"
  case baseline = "baselineMiB"
  case program = "programMemoryMiB"
  case requestsPerSecond
  case bareUploadsPerSecond
  case errors
  case calmMedian = "calm.acceptedP50Milliseconds"
  case calmP99 = "calm.acceptedP99Milliseconds"
  case overloadP99 = "overload.acceptedP99Milliseconds"
  case memoryPerPhone = "memoryPerPhoneKiB"
  case secondsPerDay
  case personDaysPerProcessorSecond
  case realMedian = "chaff.p50Milliseconds.real"
  case chaffMedian = "chaff.p50Milliseconds.chaff"
  case seconds
  case firstPaint = "firstPaintSeconds"
  case layoutShift
  case filesKiB

  /// The figure in `object`, or nil if it is absent.
  func value(in object: [String: Any]) -> Double? {
    let path = rawValue.split(separator: ".").map(String.init)
    let parent = path.dropLast().reduce(object as [String: Any]?) { object, name in
      object?[name] as? [String: Any]
    }
    return (parent?[path.last ?? ""] as? NSNumber)?.doubleValue
  }
}

/// The results of a set, by the name of the benchmark.
struct BenchmarkResults {
  enum Outcome {
    /// The JSON object of the median run, and the figures of all runs in ascending order.
    case measured([String: Any], figures: [Double])
    /// The exit status and the last line on stderr.
    case failed(status: Int32, message: String)
  }

  /// True if they were measured on the processor family of the reference figures.
  var isReferenceFamily = false
  private(set) var outcomes: [String: Outcome] = [:]

  init(isReferenceFamily: Bool = false) {
    self.isReferenceFamily = isReferenceFamily
  }

  subscript(name: String) -> Outcome? {
    get { outcomes[name] }
    set { outcomes[name] = newValue }
  }

  /// The value of a measure, or nil if a part of it was not measured.
  func value(of measure: BenchmarkTarget.Measure) -> Double? {
    switch measure {
    case .figure(let figure, let name): value(of: figure, in: name)
    case .ratio(let numerator, let first, let denominator, let second):
      value(of: numerator, in: first).flatMap { value in
        self.value(of: denominator, in: second).flatMap { $0 > 0 ? value / $0 : nil }
      }
    case .difference(let minuend, let subtrahend, let name):
      value(of: minuend, in: name).flatMap { value in
        self.value(of: subtrahend, in: name).map { value - $0 }
      }
    }
  }

  private func value(of figure: BenchmarkFigure, in name: String) -> Double? {
    guard case .measured(let object, _) = outcomes[name] else { return nil }
    return figure.value(in: object)
  }
}

/// Runs each benchmark in a process of its own, so that memory and caches of earlier ones do not count.
struct BenchmarkRunner {
  /// The maximum size of the JSON object that a benchmark prints.
  private static let outputBytesMax = 1 << 20

  /// The folder for the JSON files.
  let folder: URL
  /// The `firebreak` program.
  let executable: URL
  /// This program.
  var own = FirebreakBenchmarks.ownExecutable

  /// Runs a benchmark `runs` times and keeps the median run.
  func run(_ benchmark: Benchmark) async throws -> BenchmarkResults.Outcome {
    var runs: [(figure: Double, output: Data)] = []
    for _ in 0..<benchmark.runs {
      let (status, output, errors) = try await run(benchmark.program)
      // A benchmark with exit status 1 can have printed figures: it failed a check of them.
      guard let object = try? JSONSerialization.jsonObject(with: output) as? [String: Any],
        let figure = benchmark.figure.value(in: object)
      else { return .failed(status: status, message: errors) }
      runs.append((figure, output))
    }
    runs.sort { $0.figure < $1.figure }
    let median = runs[runs.count / 2].output
    try median.write(to: folder.appendingPathComponent("\(benchmark.name).json"))
    let object = try JSONSerialization.jsonObject(with: median) as? [String: Any]
    return .measured(object ?? [:], figures: runs.map(\.figure))
  }

  private func run(
    _ program: Benchmark.Program
  ) async throws -> (status: Int32, output: Data, errors: String) {
    switch program {
    case .product(let arguments): return try await run(executable, ["bench"] + arguments)
    case .own(let arguments): return try await run(own, arguments)
    case .browser:
      do {
        let object = try await WebAppBenchmark(executable: executable).run()
        return (0, try JSONEncoder().encode(object), "")
      } catch {
        return (3, Data(), "\(error)")
      }
    }
  }

  private func run(
    _ executable: URL, _ arguments: [String]
  ) async throws -> (status: Int32, output: Data, errors: String) {
    let run = try await Subprocess.run(
      .path(FilePath(executable.path)), arguments: Arguments(arguments + ["--json"]),
      output: .bytes(limit: Self.outputBytesMax), error: .string(limit: Self.outputBytesMax))
    let lastLine = run.standardError.split(separator: "\n").last.map(String.init)
    let status: Int32 =
      switch run.terminationStatus {
      case .exited(let code): code
      case .signaled(let signal): -signal
      }
    return (status, Data(run.standardOutput), lastLine ?? "no message on stderr")
  }
}
