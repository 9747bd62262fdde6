import Foundation

/// The results as Markdown: each figure beside its target, then each bench.
struct BenchTable {
  let date: String
  let machine: BenchMachine
  let loadAtTheEnd: Double
  let results: BenchResults

  /// How many targets hold, of those that were measured, of all.
  var counts: (held: Int, measured: Int, all: Int) {
    let promises = BenchSuite.targets.compactMap { target in
      target.bound.map { (bound: $0, value: results.value(of: target.measure)) }
    }
    return (
      promises.count { promise in promise.value.map(promise.bound.holds) ?? false },
      promises.count { $0.value != nil }, promises.count
    )
  }

  var text: String {
    let heading = """
      # Figures of \(date)

      - Processor: \(machine.processor), \(machine.cores) cores
      - Compiler: \(machine.compiler), \(BuildKind.current.rawValue) build
      - Load when it began and ended: \(machine.load.short), \(loadAtTheEnd.short)
      - \(counts.held) of \(counts.measured) targets hold; \(counts.all - counts.measured) not measured

      | what | target | measured | |
      |---|---|---|---|

      """
    let targets = BenchSuite.targets.map(row).joined(separator: "\n")
    let cases = BenchSuite.cases.map(row).joined(separator: "\n")
    return heading + targets + "\n\n| bench | | runs, sorted | in the middle |\n|---|---|---|---|\n"
      + cases + "\n"
  }

  private func row(_ target: BenchTarget) -> String {
    let value = results.value(of: target.measure)
    return "| \(target.sentence) | \(target.bound?.text ?? "") | \(value?.short ?? "-") | "
      + "\(verdict(on: value, target.bound)) |"
  }

  private func verdict(on value: Double?, _ bound: BenchTarget.Bound?) -> String {
    guard let value else { return "not measured" }
    guard let bound else { return "" }
    return bound.holds(for: value) ? "holds" : "**does not hold**"
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
