// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("A simulation that is killed while it replaces results", .needs(.process))
struct KilledSimulationTests {
  private let folder: TemporaryFolder
  private static let names = ["events.csv", "summary.json", "report.html"]
  private static let finished = ".finished-results"

  init() throws {
    folder = try TemporaryFolder()
  }

  private var results: URL { folder.path("results") }

  private func scenario(days: Int) throws -> String {
    let url = folder.path("days-\(days).json")
    try """
    {"name": "Six", "days": \(days), "contacts": {"people": 6}, "adoption": [1], "firstCases": 1,
     "app": {"minimumKeys": 0}}
    """.write(to: url, atomically: true, encoding: .utf8)
    return url.path
  }

  /// The files of a complete run.
  private func files(seed: Int, in output: URL) async throws -> [String: Data] {
    let run = try await Run(
      "simulate", try scenario(days: 1), "--seed", "\(seed)", "--output", output.path)
    try #require(run.status == 0, "\(run.errors)")
    return content(of: output)
  }

  private func content(of output: URL) -> [String: Data] {
    let found = Self.names.map {
      ($0, try? Data(contentsOf: output.appendingPathComponent($0)))
    }
    return Dictionary(uniqueKeysWithValues: found).compactMapValues(\.self)
  }

  /// Runs a simulation in the folder, and kills it when `isReached` becomes true.
  private func killedRun(seed: Int, days: Int, when isReached: () -> Bool) async throws {
    try await ChildProcess.withRunning(
      try Run.product(),
      ["simulate", try scenario(days: days), "--seed", "\(seed)", "--output", results.path]
    ) { process in
      let end = ContinuousClock.now + .seconds(Patience.seconds)
      // Without a pause, because the replacement takes less than a millisecond in memory.
      while !isReached(), process.status == nil, ContinuousClock.now < end {}
      try #require(ContinuousClock.now < end)
      process.kill()
      _ = try await process.wait()
    }
  }

  private func hasLeftovers() throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: results.path).contains { $0.hasPrefix(".") }
  }

  /// Starts another run in the folder and kills it before it has results.
  private func interruptedRun() async throws {
    var hasLeftovers = true
    try await killedRun(seed: 3, days: 366) {
      hasLeftovers = (try? self.hasLeftovers()) ?? true
      return !hasLeftovers
    }
    #expect(!hasLeftovers)
  }

  @Test(
    "The next run in the folder puts the finished files in their place before it begins",
    arguments: 0...6)
  func states(steps: Int) async throws {
    let earlier = try await files(seed: 1, in: results)
    let new = try await files(seed: 2, in: folder.path("new"))
    try #require(earlier.count == 3 && new.count == 3 && new != earlier)
    // The folder after this number of removals and renames.
    let pending = results.appendingPathComponent(Self.finished)
    try FileManager.default.copyItem(at: folder.path("new"), to: pending)
    for name in Self.names.prefix(steps) {
      try FileManager.default.removeItem(at: results.appendingPathComponent(name))
    }
    for name in Self.names.prefix(max(steps - 3, 0)) {
      try FileManager.default.moveItem(
        at: pending.appendingPathComponent(name), to: results.appendingPathComponent(name))
    }
    try await interruptedRun()
    #expect(content(of: results) == new)
    #expect(try await files(seed: 1, in: results) == earlier)
    #expect(try !hasLeftovers())
  }

  @Test("Whenever the kill comes, the files are those of one run after the next start")
  func killed() async throws {
    let earlier = try await files(seed: 1, in: results)
    let new = try await files(seed: 2, in: folder.path("new"))
    let first = results.appendingPathComponent(Self.names[0])
    for name in [".finished-results", ".unfinished-results"] {
      let mark = results.appendingPathComponent(name).path
      try await killedRun(seed: 2, days: 1) {
        FileManager.default.fileExists(atPath: mark)
          || (try? Data(contentsOf: first)) != earlier[Self.names[0]]
      }
      let left = content(of: results)
      #expect(
        left.allSatisfy { earlier[$0.key] == $0.value }
          || left.allSatisfy { new[$0.key] == $0.value })
      try await interruptedRun()
      let found = content(of: results)
      #expect(found == earlier || found == new)
      #expect(try await files(seed: 1, in: results) == earlier)
    }
  }
}
