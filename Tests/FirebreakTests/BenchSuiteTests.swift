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
    #expect(Set(BenchSuite.yardsticks.map(\.bench)).isSubset(of: names))
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

  private func object(
    cpu: Double, wall: Double, limit: Double, schedule: Double = 75, blocks: Double = 51
  ) -> [String: Any] {
    [
      "nanosecondsPerKey": ["cpu": cpu, "wall": wall],
      "limitNanosecondsPerKey": ["total": limit, "schedule": schedule, "blocks": blocks],
      "peakMemoryMiB": 27.5, "baselineMiB": 21.0,
    ]
  }

  private func table(_ results: BenchResults) -> BenchTable {
    BenchTable(
      date: "2026-01-02", machine: BenchMachine(compiler: "Swift version 6.3"), loadAtTheEnd: 1,
      results: results)
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
    let table = table(results)
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
    #expect(table.counts.judged == 5 && table.counts.held == 3, "\(table.counts)")
    #expect(
      table.counts.notJudged == 0
        && table.counts.notMeasured == BenchSuite.targets.count { $0.bound != nil } - 5)
  }

  /// What a run said of 1,000,000 keys with VAES-512 and with AES-NI.
  private func results(
    vaes512: (schedule: Double, blocks: Double), aesni: (schedule: Double, blocks: Double)
  ) -> BenchResults {
    var results = BenchResults()
    results["file-20k-vaes512"] = .measured(
      object(
        cpu: 311, wall: 320, limit: 300, schedule: vaes512.schedule, blocks: vaes512.blocks),
      figures: [311])
    results["zip-20k-vaes512"] = .measured(
      object(cpu: 440, wall: 450, limit: 300), figures: [440])
    results["file-20k-aesni"] = .measured(
      object(cpu: 640, wall: 650, limit: 300, schedule: aesni.schedule, blocks: aesni.blocks),
      figures: [640])
    return results
  }

  @Test("On a processor like the reference's a time is judged, up to the edge of the bare kernels")
  func processorLikeTheReferences() {
    let table = table(results(vaes512: (86.3, 58.7), aesni: (135.7, 262.2)))
    let text = table.text
    for row in [
      "| A key from an unzipped file with VAES-512, ns | at most 310 | 311 | **does not hold** |",
      "| the same, stretched | at most 260 | 311 | **does not hold** |",
      "| A key from an unzipped file with AES-NI, ns | at most 700 | 640 | holds |",
      "| A key from a zip with VAES-512, ns | at most 460 | 440 | holds |",
      "| A key against 1,000 identifiers, ns | at most 175 | - | not measured |",
      "| AES-NI over the machine's limit | at most 1.5 | 2.13 | **does not hold** |",
      "| Limit: schedule with AVX-512, ns | at most 86.3 | 86.3 | like the reference's |",
      "| Limit: blocks with AES-NI, ns | at most 262.2 | 262.2 | like the reference's |",
    ] { #expect(text.contains(row), "\(row)") }
    // Of the times two hold, of the ratios one, and both memories.
    #expect(table.counts == (held: 5, judged: 8, notJudged: 0, notMeasured: 12))
    #expect(text.contains("5 of 8 judged targets hold; 0 not judged on this processor; 12 not"))
  }

  @Test("On a slower processor no time is judged, held or not, and all else is")
  func slowerProcessor() {
    let table = table(results(vaes512: (86.4, 51), aesni: (290, 600)))
    let text = table.text
    let slow = "not judged: this processor's bare kernels take"
    for row in [
      "| at most 310 | 311 | \(slow) 86.4 ns for schedule with AVX-512, the reference's at most 86.3 |",
      "| at most 260 | 311 | \(slow) 86.4 ns for",
      "| at most 460 | 440 | \(slow) 86.4 ns for",
      "| at most 700 | 640 | \(slow) 290 ns for schedule with SHA-NI, the reference's at most 135.7; "
        + "600 ns for blocks with AES-NI, the reference's at most 262.2 |",
      "| A key against 1,000 identifiers, ns | at most 175 | - | not measured |",
      "| VAES-512 over the machine's limit | at most 1.5 | 1.04 | holds |",
      "| AES-NI over the machine's limit | at most 1.5 | 2.13 | **does not hold** |",
      "| Memory above the baseline, zipped, MiB | at most 8 | 6.5 | holds |",
      "| Limit: schedule with AVX-512, ns | at most 86.3 | 86.4 | slower than the reference's |",
      "| Limit: blocks with VAES-512, ns | at most 58.7 | 51 | like the reference's |",
    ] { #expect(text.contains(row), "\(row)") }
    #expect(table.counts == (held: 3, judged: 4, notJudged: 4, notMeasured: 12))
    #expect(text.contains("3 of 4 judged targets hold; 4 not judged on this processor; 12 not"))
  }

  @Test("On the reference's own family every time is judged, and slower kernels are the program's")
  func referencesFamily() {
    var results = results(vaes512: (86.4, 51), aesni: (118, 228))
    results.areOfTheReferencesFamily = true
    let table = table(results)
    for row in [
      "| at most 310 | 311 | **does not hold** |", "| at most 460 | 440 | holds |",
      "| Limit: schedule with AVX-512, ns | at most 86.3 | 86.4 | **slower kernels** than the reference's |",
      "| Limit: schedule with SHA-NI, ns | at most 135.7 | 118 | like the reference's |",
    ] { #expect(table.text.contains(row), "\(row)") }
    #expect(table.counts.notJudged == 0)
  }

  @Test("One tier may be slow and the other like the reference's")
  func tiersApart() {
    let table = table(results(vaes512: (75, 60), aesni: (118, 228)))
    #expect(table.text.contains("| at most 310 | 311 | not judged: "))
    #expect(table.text.contains("| at most 700 | 640 | holds |"))
    #expect(table.counts == (held: 4, judged: 5, notJudged: 3, notMeasured: 12))
  }

  @Test("Where the bare kernels were not measured, a time is not judged")
  func kernelsNotMeasured() {
    var results = results(vaes512: (75, 51), aesni: (118, 228))
    results["file-20k-vaes512"] = .failed(status: 2, sentence: "no such tier")
    let table = table(results)
    #expect(
      table.text.contains(
        "| at most 460 | 440 | not judged: this processor's bare kernels were not measured |"))
    #expect(
      table.text.contains(
        "| Limit: schedule with AVX-512, ns | at most 86.3 | - | not measured |"))
    #expect(table.text.contains("| at most 700 | 640 | holds |"))
    #expect(table.counts == (held: 2, judged: 3, notJudged: 1, notMeasured: 16))
  }

  @Test("Every time of a key has its tier's bare kernels beside it, and nothing else has")
  func judgedByTheirTier() {
    for target in BenchSuite.targets {
      switch target.measure {
      case .figure(.cpu, let name):
        #expect(
          target.yardstick?.bench == "file-20k-" + (name.split(separator: "-").last ?? ""),
          "\(target.sentence)")
      default: #expect(target.yardstick == nil, "\(target.sentence)")
      }
    }
  }

  @Test("Beside the gain of two threads stands that of the bare kernels, which promises nothing")
  func gainOfTheKernels() {
    var results = BenchResults()
    results["file-20k-two-threads"] = .measured(
      ["gainOverOneThread": 1.75, "limitOnThreads": ["scaling": 1.84, "medianScaling": 1.6]],
      figures: [1.75])
    let table = table(results)
    #expect(table.text.contains("| the same of the bare kernels, at their best |  | 1.84 |  |"))
    #expect(
      table.text.contains(
        "| the same of the bare kernels, in the middle of their rounds |  | 1.6 |  |"))
    #expect(
      table.text.contains(
        "| One thread over two on the clock, unzipped | at least 1.7 | 1.75 | holds |"))
    #expect(table.text.contains("| 1.75 | bare kernels 1.84 times as fast |"))
    #expect(table.counts.judged == 1 && table.counts.held == 1)
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
  func only() async throws {
    let folder = try TemporaryFolder()
    let run = try await Run("bench", "all", "--only", "nothing", "--output", folder.url.path)
    #expect(run.status == 2 && run.errors.contains("No bench is called nothing"))
  }
}
