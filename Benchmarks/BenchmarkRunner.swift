// SPDX-License-Identifier: Apache-2.0
import Foundation
import Subprocess
import SystemPackage

/// One benchmark of the published set.
struct Benchmark: Sendable {
  /// The name, which is also that of its JSON file.
  let name: String
  let description: String
  /// The arguments of `firebreak bench`; nil for the web app, which runs in a browser.
  let arguments: [String]?
  /// The number of runs; the median run counts.
  let runs: Int
  /// The figure by which runs are ordered.
  let figure: BenchmarkFigure

  /// - Parameter arguments: The arguments of `firebreak bench`, separated by spaces.
  init(
    _ name: String, _ description: String, _ arguments: String, runs: Int = 3,
    by figure: BenchmarkFigure = .cpu
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments.split(separator: " ").map(String.init)
    self.runs = runs
    self.figure = figure
  }

  /// The web app in a browser.
  static let webApp = Benchmark(browser: "web-app", "in headless Chromium, empty cache")

  private init(browser name: String, _ description: String) {
    (self.name, self.description, arguments) = (name, description, nil)
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
  case requestsPerSecond
  case bareUploadsPerSecond
  case errors
  case calmMedian = "calm.acceptedP50Milliseconds"
  case calmP99 = "calm.acceptedP99Milliseconds"
  case overloadP99 = "overload.acceptedP99Milliseconds"
  case memoryPerPhone = "memoryPerPhoneKiB"
  case secondsPerDay
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

  /// Runs a benchmark `runs` times and keeps the median run.
  func run(_ benchmark: Benchmark) async throws -> BenchmarkResults.Outcome {
    var runs: [(figure: Double, output: Data)] = []
    for _ in 0..<benchmark.runs {
      let (status, output, errors) = try await run(benchmark.arguments)
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
    _ arguments: [String]?
  ) async throws -> (status: Int32, output: Data, errors: String) {
    guard let arguments else {
      do {
        let object = try await WebAppBenchmark(executable: executable).run()
        return (0, try JSONEncoder().encode(object), "")
      } catch {
        return (3, Data(), "\(error)")
      }
    }
    let run = try await Subprocess.run(
      .path(FilePath(executable.path)), arguments: Arguments(["bench"] + arguments + ["--json"]),
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
