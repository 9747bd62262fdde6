import Foundation
import TestSupport
import Testing

@testable import firebreak

/// Documentation/Performance.md 7.
@Suite("The published set of benches")
struct BenchSuiteTests {
  @Test("Every case has a name of its own, and every target names a case")
  func names() {
    let names = BenchSuite.cases.map(\.name)
    #expect(Set(names).count == names.count)
    for target in BenchSuite.targets {
      let named =
        switch target.measure {
        case .figure(_, let name), .difference(_, _, let name): [name]
        case .ratio(_, let one, _, let other): [one, other]
        }
      #expect(Set(named).isSubset(of: names), "\(target.sentence)")
    }
  }

  @Test("A bound holds on its edge and not beyond")
  func bounds() {
    #expect(BenchTarget.Bound.atMost(310).holds(for: 310))
    #expect(!BenchTarget.Bound.atMost(310).holds(for: 310.1))
    #expect(BenchTarget.Bound.atLeast(1.7).holds(for: 1.7))
    #expect(!BenchTarget.Bound.atLeast(1.7).holds(for: 1.69))
    let near = BenchTarget.Bound.near(100, percent: 15)
    #expect(near.holds(for: 85) && near.holds(for: 115))
    #expect(!near.holds(for: 84.9) && !near.holds(for: 115.1))
  }

  private func object(cpu: Double, wall: Double, limit: Double) -> [String: Any] {
    [
      "nanosecondsPerKey": ["cpu": cpu, "wall": wall], "limitNanosecondsPerKey": ["total": limit],
      "peakMemoryMiB": 27.5, "baselineMiB": 21.0,
    ]
  }

  @Test("The table puts each figure beside its target, and says what was not measured")
  func table() {
    var results = BenchResults()
    results["file-20k-vaes512"] = .measured(
      object(cpu: 280, wall: 290, limit: 200), figures: [270, 280, 300])
    results["file-200k-vaes512"] = .measured(
      object(cpu: 448, wall: 450, limit: 230), figures: [448])
    results["export"] = .failed(status: 2, sentence: "no such bench")
    #expect(
      results.value(
        of: .ratio(.cpu, "file-200k-vaes512", over: .cpu, "file-20k-vaes512")) == 1.6)
    #expect(results.value(of: .difference(.peak, .baseline, of: "file-20k-vaes512")) == 6.5)
    #expect(results.value(of: .figure(.cpu, of: "zip-20k-vaes512")) == nil)
    let table = BenchTable(
      date: "2026-01-02", machine: BenchMachine(compiler: "Swift version 6.3"), loadAtTheEnd: 1,
      results: results)
    let text = table.text
    #expect(text.contains("# Figures of 2026-01-02") && text.contains("Swift version 6.3"))
    #expect(
      text.contains("| A key from an unzipped file with VAES-512, ns | at most 310 | 280 | holds |")
    )
    #expect(
      text.contains("| 200,000 identifiers over 20,000 | at most 1.5 | 1.6 | **does not hold** |"))
    #expect(
      text.contains("| A key from a zip with VAES-512, ns | at most 460 | - | not measured |"))
    #expect(text.contains("ended with 2: no such bench"))
    #expect(text.contains("270, 280, 300"))
    #expect(table.counts.all == BenchSuite.targets.count { $0.bound != nil })
    #expect(table.counts.measured == 5 && table.counts.held == 3, "\(table.counts)")
  }

  @Test("Beside the gain of two threads stands that of the bare kernels, which promises nothing")
  func gainOfTheKernels() {
    var results = BenchResults()
    results["file-20k-two-threads"] = .measured(
      ["gainOverOneThread": 1.75, "limitOnThreads": ["scaling": 1.84, "medianScaling": 1.6]],
      figures: [1.75])
    let table = BenchTable(
      date: "2026-01-02", machine: BenchMachine(compiler: "Swift version 6.3"), loadAtTheEnd: 1,
      results: results)
    #expect(table.text.contains("| the same of the bare kernels, at their best |  | 1.84 |  |"))
    #expect(
      table.text.contains(
        "| the same of the bare kernels, in the middle of their rounds |  | 1.6 |  |"))
    #expect(
      table.text.contains(
        "| One thread over two on the clock, unzipped | at least 1.7 | 1.75 | holds |"))
    #expect(table.text.contains("| 1.75 | bare kernels 1.84 times as fast |"))
    #expect(table.counts.measured == 1 && table.counts.held == 1)
  }

  @Test("The run in the middle is kept, and a bench that fails says why")
  func runner() throws {
    let folder = try TemporaryFolder()
    let runner = BenchRunner(folder: folder.url, executable: try Run.product())
    let small = BenchCase(
      "small", "a few keys", "match --keys 50 --sightings 20 --from memory", runs: 3)
    guard case .measured(let object, let figures) = try runner.run(small) else {
      Issue.record("it did not measure")
      return
    }
    #expect(figures.count == 3 && figures == figures.sorted())
    #expect(BenchFigure.cpu.value(in: object) == figures[1])
    let kept = try Data(contentsOf: folder.path("small.json"))
    let keptObject = try JSONSerialization.jsonObject(with: kept) as? [String: Any]
    #expect(keptObject?["keys"] as? Int == 50)
    let wrong = BenchCase("wrong", "no keys", "match --keys 0", runs: 1)
    guard case .failed(let status, let sentence) = try runner.run(wrong) else {
      Issue.record("it measured nothing")
      return
    }
    #expect(status == 2 && sentence.contains("--keys"))
    #expect(folder.files().map(\.lastPathComponent) == ["small.json"])
  }

  @Test("A name that no bench has is refused")
  func only() throws {
    let folder = try TemporaryFolder()
    let run = try Run("bench", "all", "--only", "nothing", "--output", folder.url.path)
    #expect(run.status == 2 && run.errors.contains("No bench is called nothing"))
  }
}
