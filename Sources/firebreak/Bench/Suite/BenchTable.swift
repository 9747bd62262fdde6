import Foundation

/// The results as Markdown: each figure beside its target, then each bench.
struct BenchTable {
  let date: String
  let machine: BenchMachine
  let loadAtTheEnd: Double
  let results: BenchResults

  /// How many targets hold of those that were judged, and how many were not and why.
  var counts: (held: Int, judged: Int, notJudged: Int, notMeasured: Int) {
    let verdicts = BenchSuite.targets.filter { $0.bound != nil }
      .map { BenchVerdict(on: $0, by: results) }
    let held = verdicts.count { $0 == .holds }
    let notMeasured = verdicts.count { $0 == .notMeasured }
    let judged = held + verdicts.count { $0 == .doesNotHold }
    return (held, judged, verdicts.count - judged - notMeasured, notMeasured)
  }

  var text: String {
    let counts = counts
    let heading = """
      # Figures of \(date)

      - Processor: \(machine.processor), \(machine.cores) cores
      - Compiler: \(machine.compiler), \(BuildKind.current.rawValue) build
      - Load when it began and ended: \(machine.load.short), \(loadAtTheEnd.short)
      - \(counts.held) of \(counts.judged) judged targets hold; \(counts.notJudged) not judged on this processor; \
      \(counts.notMeasured) not measured

      | what | target | measured | |
      |---|---|---|---|

      """
    let targets = BenchSuite.targets.map(row).joined(separator: "\n")
    let limits = BenchSuite.yardsticks.flatMap(rows).joined(separator: "\n")
    let cases = BenchSuite.cases.map(row).joined(separator: "\n")
    return heading + targets
      + "\n\n| this processor's bare kernels | the reference's | measured | |\n|---|---|---|---|\n"
      + limits + "\n\n| bench | | runs, sorted | in the middle |\n|---|---|---|---|\n"
      + cases + "\n"
  }

  private func row(_ target: BenchTarget) -> String {
    let value = results.value(of: target.measure)
    return "| \(target.sentence) | \(target.bound?.text ?? "") | \(value?.short ?? "-") | "
      + "\(BenchVerdict(on: target, by: results).text) |"
  }

  /// The measure of a processor of another family; on one of the reference's it is the kernels' target.
  private func rows(_ yardstick: BenchYardstick) -> [String] {
    yardstick.stages.map { stage in
      let value = results.value(of: .figure(stage.figure, of: yardstick.bench))
      let slower = results.areOfTheReferencesFamily ? "**slower kernels**" : "slower"
      let words = value.map {
        stage.isSlower(at: $0) ? "\(slower) than the reference's" : "like the reference's"
      }
      return "| Limit: \(stage.name), ns | at most \(stage.mostNanoseconds.short) | "
        + "\(value?.short ?? "-") | \(words ?? "not measured") |"
    }
  }

  private func row(_ bench: BenchCase) -> String {
    let start = "| \(bench.name) | \(bench.sentence) | "
    switch results[bench.name] {
    case .measured(let object, let figures):
      return start + figures.map(\.short).joined(separator: ", ") + " | \(Self.sum(of: object)) |"
    case .failed(let status, let sentence):
      return start + "- | ended with \(status): \(sentence.printable) |"
    case nil: return start + "- | not run |"
    }
  }

  /// The figures of one object that people look for.
  private static func sum(of object: [String: Any]) -> String {
    func text(_ figure: BenchFigure, _ words: (String) -> String) -> String? {
      figure.value(in: object).map { words($0.short) }
    }
    let memory = BenchFigure.peak.value(in: object).flatMap { peak in
      BenchFigure.baseline.value(in: object).map { "\((peak - $0).short) MiB above \($0.short)" }
    }
    return [
      text(.cpu) { "\($0) ns of processor" }, text(.wall) { "\($0) ns on the clock" },
      text(.limit) { "limit \($0)" }, text(.limitScaling) { "bare kernels \($0) times as fast" },
      memory, text(.requestsPerSecond) { "\($0) a second" },
      text(.errors) { "\($0) errors" }, text(.seconds) { "\($0) s" },
    ].compactMap(\.self).joined(separator: ", ")
  }
}
