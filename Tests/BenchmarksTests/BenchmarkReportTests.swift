// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import firebreak_benchmarks

@Suite("Benchmark report")
struct BenchmarkReportTests {
  /// The built product beside the program that runs the tests.
  private static let firebreak = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("firebreak")

  @Test("Benchmarks have unique names, and every target names a benchmark")
  func names() {
    let names = BenchmarkSuite.benchmarks.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(BenchmarkSuite.referenceSpeeds.map(\.benchmark)).isSubset(of: names))
    for target in BenchmarkSuite.targets {
      let named =
        switch target.measure {
        case .figure(_, let name), .difference(_, _, let name): [name]
        case .ratio(_, let one, _, let other): [one, other]
        }
      #expect(Set(named).isSubset(of: names), "\(target.description)")
    }
  }

  @Test("A bound includes its limit")
  func bounds() {
    #expect(BenchmarkTarget.Bound.atMost(310).holds(for: 310))
    #expect(!BenchmarkTarget.Bound.atMost(310).holds(for: 310.1))
    #expect(BenchmarkTarget.Bound.atLeast(1.7).holds(for: 1.7))
    #expect(!BenchmarkTarget.Bound.atLeast(1.7).holds(for: 1.69))
    let near = BenchmarkTarget.Bound.near(100, percent: 15)
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

  private func makeReport(_ results: BenchmarkResults) -> BenchmarkReport {
    BenchmarkReport(
      date: Date(timeIntervalSince1970: 1_767_312_000),
      machine: BenchmarkMachine(compiler: "Swift version 6.3"), finalLoad: 1,
      results: results)
  }

  @Test("The report shows each figure with its target and marks those not measured")
  func figures() {
    var results = BenchmarkResults()
    results["file-20k-vaes512"] = .measured(
      object(cpu: 280, wall: 290, limit: 200), figures: [270, 280, 300])
    results["file-200k-vaes512"] = .measured(
      object(cpu: 448, wall: 450, limit: 230), figures: [448])
    results["export"] = .failed(status: 2, message: "no such bench")
    #expect(
      results.value(
        of: .ratio(.cpu, "file-200k-vaes512", over: .cpu, "file-20k-vaes512")) == 1.6)
    #expect(results.value(of: .difference(.peak, .baseline, of: "file-20k-vaes512")) == 6.5)
    #expect(results.value(of: .figure(.cpu, of: "zip-20k-vaes512")) == nil)
    let report = makeReport(results)
    let text = report.text
    #expect(text.contains("# Benchmarks of 2026-01-02") && text.contains("Swift version 6.3"))
    #expect(
      text.contains("| Unzipped file, VAES-512, ns per key | at most 310 | 280 | holds |")
    )
    #expect(
      text.contains("| 200,000 identifiers over 20,000, ratio | at most 1.5 | 1.6 | **fails** |"))
    #expect(
      text.contains("| Zip, VAES-512, ns per key | at most 460 | - | not measured |"))
    #expect(text.contains("exit status 2: no such bench"))
    #expect(text.contains("270, 280, 300"))
    #expect(report.counts.judged == 5 && report.counts.held == 3, "\(report.counts)")
    #expect(
      report.counts.notJudged == 0
        && report.counts.notMeasured == BenchmarkSuite.targets.count { $0.bound != nil } - 5)
  }

  /// Results of a million keys with the given kernel times.
  private func results(
    vaes512: (schedule: Double, blocks: Double), aesni: (schedule: Double, blocks: Double)
  ) -> BenchmarkResults {
    var results = BenchmarkResults()
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

  @Test("On a comparable processor times are judged")
  func comparableProcessor() {
    let report = makeReport(results(vaes512: (86.3, 58.7), aesni: (135.7, 262.2)))
    let text = report.text
    for row in [
      "| Unzipped file, VAES-512, ns per key | at most 310 | 311 | **fails** |",
      "| Unzipped file, VAES-512, ns per key (stretch) | at most 260 | 311 | **fails** |",
      "| Unzipped file, AES-NI, ns per key | at most 700 | 640 | holds |",
      "| Zip, VAES-512, ns per key | at most 460 | 440 | holds |",
      "| 1,000 identifiers, ns per key | at most 175 | - | not measured |",
      "| AES-NI over the limit of the machine, ratio | at most 1.5 | 2.13 | **fails** |",
      "| schedule with AVX-512, ns per key | at most 86.3 | 86.3 | comparable |",
      "| blocks with AES-NI, ns per key | at most 262.2 | 262.2 | comparable |",
    ] { #expect(text.contains(row), "\(row)") }
    #expect(report.counts == (held: 5, judged: 8, notJudged: 0, notMeasured: 20))
    #expect(text.contains("5 of 8 judged targets hold; 0 not judged on this machine; 20 not"))
  }

  @Test("On a slower processor times are not judged, everything else is")
  func slowerProcessor() {
    let report = makeReport(results(vaes512: (86.4, 51), aesni: (290, 600)))
    let text = report.text
    let slow = "not judged: slower machine:"
    for row in [
      "| at most 310 | 311 | \(slow) schedule with AVX-512 86.4 ns per key, reference at most 86.3 |",
      "| at most 260 | 311 | \(slow) schedule with AVX-512 86.4 ns per key",
      "| at most 460 | 440 | \(slow) schedule with AVX-512 86.4 ns per key",
      "| at most 700 | 640 | \(slow) schedule with SHA-NI 290 ns per key, reference at most 135.7; "
        + "blocks with AES-NI 600 ns per key, reference at most 262.2 |",
      "| 1,000 identifiers, ns per key | at most 175 | - | not measured |",
      "| VAES-512 over the limit of the machine, ratio | at most 1.5 | 1.04 | holds |",
      "| AES-NI over the limit of the machine, ratio | at most 1.5 | 2.13 | **fails** |",
      "| Memory above the baseline, zipped, MiB | at most 32 | 6.5 | holds |",
      "| schedule with AVX-512, ns per key | at most 86.3 | 86.4 | slower |",
      "| blocks with VAES-512, ns per key | at most 58.7 | 51 | comparable |",
    ] { #expect(text.contains(row), "\(row)") }
    #expect(report.counts == (held: 3, judged: 4, notJudged: 4, notMeasured: 20))
    #expect(text.contains("3 of 4 judged targets hold; 4 not judged on this machine; 20 not"))
  }

  @Test(
    "The rate of uploads is judged on a comparable machine, its ratio on every one",
    arguments: [
      (2_900.0, 4_500.0, "holds", "holds"), (2_800, 4_500, "**fails**", "holds"),
      (
        2_400, 4_499, "not judged: slower machine: uploads without a server 4499 per s", "**fails**"
      ),
    ])
  func uploads(rate: Double, bare: Double, absolute: String, ratio: String) {
    var results = BenchmarkResults()
    results["publish"] = .measured(
      ["requestsPerSecond": rate, "bareUploadsPerSecond": bare], figures: [rate])
    let lines = makeReport(results).text.split(separator: "\n")
    #expect(
      lines.contains {
        $0.hasPrefix("| Uploads per second | at least 2850 | \(rate.short) | \(absolute)")
      })
    #expect(
      lines.contains {
        $0.hasPrefix("| Uploads over uploads without a server, ratio | at least 0.55 | ")
          && $0.hasSuffix(" | \(ratio) |")
      })
    #expect(
      lines.contains(
        "| uploads without a server, per second | at least 4500 | \(bare.short) | "
          + "\(bare < 4_500 ? "slower" : "comparable") |"))
  }

  @Test("On the reference processor every time and rate is judged and slower kernels are marked")
  func referenceFamily() {
    var results = results(vaes512: (86.4, 51), aesni: (118, 228))
    results["publish"] = .measured(
      ["requestsPerSecond": 2_400, "bareUploadsPerSecond": 4_000], figures: [2_400])
    results.isReferenceFamily = true
    let report = makeReport(results)
    for row in [
      "| at most 310 | 311 | **fails** |", "| at most 460 | 440 | holds |",
      "| Uploads per second | at least 2850 | 2400 | **fails** |",
      "| schedule with AVX-512, ns per key | at most 86.3 | 86.4 | **slower** |",
      "| schedule with SHA-NI, ns per key | at most 135.7 | 118 | comparable |",
      "| uploads without a server, per second | at least 4500 | 4000 | slower |",
    ] { #expect(report.text.contains(row), "\(row)") }
    #expect(report.counts.notJudged == 0)
  }

  @Test("Tiers are judged independently")
  func tiersApart() {
    let report = makeReport(results(vaes512: (75, 60), aesni: (118, 228)))
    #expect(report.text.contains("| at most 310 | 311 | not judged: "))
    #expect(report.text.contains("| at most 700 | 640 | holds |"))
    #expect(report.counts == (held: 4, judged: 5, notJudged: 3, notMeasured: 20))
  }

  @Test("Times are not judged if the kernels were not measured")
  func kernelsNotMeasured() {
    var results = results(vaes512: (75, 51), aesni: (118, 228))
    results["file-20k-vaes512"] = .failed(status: 2, message: "no such tier")
    let report = makeReport(results)
    #expect(
      report.text.contains(
        "| at most 460 | 440 | not judged: speed of the machine not measured |"))
    #expect(
      report.text.contains(
        "| schedule with AVX-512, ns per key | at most 86.3 | - | not measured |"))
    #expect(report.text.contains("| at most 700 | 640 | holds |"))
    #expect(report.counts == (held: 2, judged: 3, notJudged: 1, notMeasured: 24))
  }

  @Test(
    "Times per key and the rate of uploads refer to the speed of the machine, other figures to none"
  )
  func judgedBySpeeds() {
    for target in BenchmarkSuite.targets {
      switch target.measure {
      case .figure(.cpu, let name):
        #expect(
          target.reference?.benchmark == "file-20k-" + (name.split(separator: "-").last ?? ""),
          "\(target.description)")
      case .figure(.requestsPerSecond, _):
        #expect(target.reference?.benchmark == "publish", "\(target.description)")
      default: #expect(target.reference == nil, "\(target.description)")
      }
    }
  }

  @Test("The speedup of the kernels is reported without a target")
  func kernelSpeedup() {
    var results = BenchmarkResults()
    results["file-20k-two-threads"] = .measured(
      ["gainOverOneThread": 1.75, "limitOnThreads": ["scaling": 1.84, "medianScaling": 1.6]],
      figures: [1.75])
    let report = makeReport(results)
    #expect(report.text.contains("| One thread over two, kernels alone, best round |  | 1.84 |  |"))
    #expect(
      report.text.contains(
        "| One thread over two, kernels alone, median round |  | 1.6 |  |"))
    #expect(
      report.text.contains(
        "| One thread over two, elapsed time, unzipped | at least 1.7 | 1.75 | holds |"))
    #expect(report.text.contains("| 1.75 | kernels alone 1.84 times as fast |"))
    #expect(report.counts.judged == 1 && report.counts.held == 1)
  }

  @Test("The runner keeps the median run and reports the error of a failed one")
  func runner() async throws {
    let folder = try TemporaryFolder()
    let runner = BenchmarkRunner(folder: folder.url, executable: Self.firebreak)
    let small = Benchmark(
      "small", "a few keys", "match --keys 50 --sightings 20 --from memory", runs: 3)
    guard case .measured(let object, let figures) = try await runner.run(small) else {
      Issue.record("the benchmark was not measured")
      return
    }
    #expect(figures.count == 3 && figures == figures.sorted())
    #expect(BenchmarkFigure.cpu.value(in: object) == figures[1])
    let kept = try Data(contentsOf: folder.path("small.json"))
    let keptObject = try JSONSerialization.jsonObject(with: kept) as? [String: Any]
    #expect(keptObject?["keys"] as? Int == 50)
    let wrong = Benchmark("wrong", "no keys", "match --keys 0", runs: 1)
    guard case .failed(let status, let message) = try await runner.run(wrong) else {
      Issue.record("the run did not fail")
      return
    }
    #expect(status == 2 && message.contains("--keys"))
    #expect(folder.files().map(\.lastPathComponent) == ["small.json"])
  }
}
