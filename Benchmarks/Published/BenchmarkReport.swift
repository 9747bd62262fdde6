// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The results as Markdown: targets, speeds of the machine and benchmarks.
struct BenchmarkReport {
  let date: Date
  let machine: BenchmarkMachine
  let finalLoad: Double
  let results: BenchmarkResults

  /// The number of targets by verdict; `judged` includes those that hold.
  var counts: (held: Int, judged: Int, notJudged: Int, notMeasured: Int) {
    let verdicts = BenchmarkSuite.targets.filter { $0.bound != nil }
      .map { BenchmarkVerdict(on: $0, in: results) }
    let held = verdicts.count { $0 == .holds }
    let notMeasured = verdicts.count { $0 == .notMeasured }
    let judged = held + verdicts.count { $0 == .fails }
    return (held, judged, verdicts.count - judged - notMeasured, notMeasured)
  }

  var text: String {
    let counts = counts
    let heading = """
      # Benchmarks of \(date.formatted(.iso8601.year().month().day()))

      - Processor: \(machine.processor), \(machine.cores) cores
      - Compiler: \(machine.compiler)
      - Load average at the start and at the end: \(machine.load.short), \(finalLoad.short)
      - \(counts.held) of \(counts.judged) judged targets hold; \(counts.notJudged) not judged on this machine; \
      \(counts.notMeasured) not measured

      | Figure | Target | Measured | |
      |---|---|---|---|

      """
    let targets = BenchmarkSuite.targets.map(row).joined(separator: "\n")
    let speeds = BenchmarkSuite.referenceSpeeds.flatMap(rows).joined(separator: "\n")
    let benchmarks = BenchmarkSuite.benchmarks.map(row).joined(separator: "\n")
    return heading + targets
      + "\n\n| Speed of the machine | Reference | Measured | |\n|---|---|---|---|\n"
      + speeds + "\n\n| Benchmark | | Runs, sorted | Median run |\n|---|---|---|---|\n"
      + benchmarks + "\n"
  }

  private func row(_ target: BenchmarkTarget) -> String {
    let value = results.value(of: target.measure)
    return "| \(target.description) | \(target.bound?.text ?? "") | \(value?.short ?? "-") | "
      + "\(BenchmarkVerdict(on: target, in: results).text) |"
  }

  private func rows(_ reference: ReferenceSpeeds) -> [String] {
    reference.speeds.map { speed in
      let value = results.value(of: .figure(speed.figure, of: reference.benchmark))
      let isRegression = results.isReferenceFamily && speed.isOfProduct
      let slower = isRegression ? "**slower**" : "slower"
      let verdict = value.map { speed.isSlower($0) ? slower : "comparable" } ?? "not measured"
      return "| \(speed.name), \(speed.unit) | \(speed.bound.text) | "
        + "\(value?.short ?? "-") | \(verdict) |"
    }
  }

  private func row(_ benchmark: Benchmark) -> String {
    let start = "| \(benchmark.name) | \(benchmark.description) | "
    switch results[benchmark.name] {
    case .measured(let object, let figures):
      return start + figures.map(\.short).joined(separator: ", ") + " | \(summary(of: object)) |"
    case .failed(let status, let message): return start + "- | exit status \(status): \(message) |"
    case nil: return start + "- | not run |"
    }
  }

  private func summary(of object: [String: Any]) -> String {
    func text(_ figure: BenchmarkFigure, _ format: (String) -> String) -> String? {
      figure.value(in: object).map { format($0.short) }
    }
    let memory = BenchmarkFigure.peak.value(in: object).flatMap { peak in
      BenchmarkFigure.baseline.value(in: object).map {
        "\((peak - $0).short) MiB above \($0.short)"
      }
    }
    return [
      text(.cpu) { "\($0) ns processor time" }, text(.wall) { "\($0) ns elapsed" },
      text(.limit) { "limit \($0) ns" },
      text(.limitScaling) { "kernels alone \($0) times as fast" },
      memory, text(.requestsPerSecond) { "\($0) per second" },
      text(.bareUploadsPerSecond) { "\($0) without a server" },
      text(.errors) { "\($0) errors" }, text(.seconds) { "\($0) s" },
      text(.firstPaint) { "first paint after \($0) s" }, text(.filesKiB) { "\($0) KiB" },
    ].compactMap(\.self).joined(separator: ", ")
  }
}
