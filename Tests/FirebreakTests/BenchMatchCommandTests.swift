// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import ServedSystem
import TestSupport
import Testing

@testable import Bench

@Suite("firebreak bench match", .needs(.process))
struct BenchMatchCommandTests {
  private func bench(_ arguments: String...) async throws -> Run {
    try await Run(["bench", "match", "--json"] + arguments)
  }

  @Test("All planted matches are found with every source of keys", arguments: KeySource.allCases)
  func sources(_ source: KeySource) async throws {
    let run = try await bench("--keys", "2000", "--sightings", "300", "--from", source.rawValue)
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(report["keys"] as? Int == 2_000)
    #expect(report["keysMatched"] as? Int == 1)
    #expect(report["sightings"] as? Int == 300)
    #expect(report["source"] as? String == source.rawValue)
    #expect(report["threads"] as? Int == 1)
    #expect(report["keysSkipped"] as? Int != nil)
    #expect(report["build"] as? String == BuildKind.current.rawValue)
    #expect(run.errors.contains("debug build") == (BuildKind.current == .debug))
    for name in ["keysPerSecond", "baselineMiB", "peakMemoryMiB"] {
      #expect((report[name] as? Double ?? 0) > 0, "\(name)")
    }
    #expect(
      (report["peakMemoryMiB"] as? Double ?? 0) >= (report["baselineMiB"] as? Double ?? .infinity))
    let times = try #require(report["nanosecondsPerKey"] as? [String: Double])
    #expect(Set(times.keys) == ["cpu", "wall"] && times.values.allSatisfy { $0 > 0 })
    let limit = try #require(report["limitNanosecondsPerKey"] as? [String: Double])
    #expect(Set(limit.keys) == ["schedule", "blocks", "probe", "total"])
    let stages = ["schedule", "blocks", "probe"].compactMap { limit[$0] }
    #expect(stages.allSatisfy { $0 > 0 })
    #expect(abs(stages.reduce(0, +) - (limit["total"] ?? 0)) < 0.2)
    #expect(report["limitOnThreads"] == nil && report["gainOverOneThread"] == nil)
  }

  @Test("With two threads the report has the speedup of the matcher and of the kernels")
  func twoThreads() async throws {
    let run = try await bench(
      "--keys", "2000", "--sightings", "300", "--from", "memory", "--threads", "2")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(try #require(report["gainOverOneThread"] as? Double) > 0)
    let limit = try #require(report["limitOnThreads"] as? [String: Any])
    let both = try #require(limit["nanosecondsPerKey"] as? [String: Double])
    #expect(Set(both.keys) == ["schedule", "blocks", "probe", "total"])
    #expect(both.values.allSatisfy { $0 > 0 })
    let one = try #require(limit["oneThreadNanosecondsPerKey"] as? Double)
    let total = try #require(both["total"])
    let scaling = try #require(limit["scaling"] as? Double)
    #expect(one > 0 && abs(scaling - one / total) < 0.01)
    #expect(try #require(limit["medianScaling"] as? Double) > 0)
  }

  @Test("Every available tier can be selected, others are rejected", arguments: MatchTier.allCases)
  func tiers(_ tier: MatchTier) async throws {
    let run = try await bench("--keys", "200", "--sightings", "50", "--tier", tier.rawValue)
    if tier.isAvailable {
      #expect(run.status == 0, "\(run.errors)")
      #expect(try run.json()?["tier"] as? String == tier.rawValue)
    } else {
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.contains("does not support the tier \(tier.rawValue)"))
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test("The fastest tier is the default")
  func fastest() async throws {
    let run = try await bench(
      "--keys", "50", "--sightings", "50", "--from", "memory", "--threads", "2")
    #expect(try run.json()?["tier"] as? String == MatchTier.fastest.rawValue)
    #expect(try run.json()?["threads"] as? Int == 2)
  }

  @Test("Without --keep no file remains")
  func leavesNothing() async throws {
    let folder = try TemporaryFolder()
    let run = try await Run(
      ["bench", "match", "--keys", "60", "--sightings", "60", "--from", "zip"],
      temporaryFolder: folder.url)
    #expect(run.status == 0, "\(run.errors)")
    #expect(folder.files().isEmpty)
  }

  @Test("Kept files can be read by match and verify", arguments: ["zip", "file"])
  func keep(_ source: String) async throws {
    let folder = try TemporaryFolder()
    let run = try await bench(
      "--keys", "1500", "--sightings", "200", "--from", source, "--keep", folder.url.path)
    #expect(run.status == 0, "\(run.errors)")
    let keys = folder.path(source == "zip" ? "keys-00001.zip" : "keys-00001.bin").path
    let (publicKey, csv) = (folder.path("public.pem").path, folder.path("sightings.csv").path)
    #expect(try await Run("keyfile", "verify", keys, "--public-key", publicKey).status == 0)
    let match = try await Run(
      "match", "--json", "--sightings", csv, "--public-key", publicKey, keys)
    #expect(match.status == 0, "\(match.errors)")
    #expect(try match.json()?["keysRead"] as? Int == 1_500)
    #expect(try match.json()?["keysMatched"] as? Int == 1)
    let found = (try match.json()?["matches"] as? [[String: Any]])?.first
    #expect(found?["txPower"] as? Int == 8 && found?["version"] as? String == "1.0")
    let again = try await bench("--keys", "20", "--sightings", "20", "--keep", folder.url.path)
    #expect(again.status == 2 && again.errors.contains("already exists"), "\(again.errors)")
  }

  @Test(
    "Options outside their limits are rejected with one line",
    arguments: [
      (["--keys", "0"], "--keys"), (["--keys", "50000001"], "--keys"),
      (["--sightings", "0"], "--sightings"), (["--sightings", "1000001"], "--sightings"),
      (["--threads", "0"], "--threads"), (["--threads", "17"], "--threads"),
      (["--keys", "30000", "--sightings", "2"], "--sightings 3"), (["--from", "disk"], "--from"),
      (["--tier", "quantum"], "--tier"),
    ])
  func refusals(arguments: [String], named: String) async throws {
    let run = try await Run(["bench", "match", "--json"] + arguments)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(named), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test(
    "Options on their limits are accepted", arguments: [["--threads", "16"], ["--keys", "10000"]])
  func limits(arguments: [String]) async throws {
    let run = try await Run(
      ["bench", "match", "--json", "--sightings", "1", "--from", "memory"] + arguments
        + (arguments.contains("--keys") ? [] : ["--keys", "1"]))
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test("Without --json the report is text")
  func text() async throws {
    let run = try await Run(
      "bench", "match", "--keys", "100", "--sightings", "50", "--from", "memory")
    #expect(run.status == 0)
    #expect(run.output.contains("100 keys against 50 sightings"))
    #expect(run.output.contains("limit"))
    #expect(!run.output.contains("\nthreads "))
    let two = try await Run(
      "bench", "match", "--keys", "100", "--sightings", "50", "--from", "memory", "--threads", "2")
    #expect(two.output.contains("\nthreads  ") && two.output.contains("the kernels alone "))
  }
}
