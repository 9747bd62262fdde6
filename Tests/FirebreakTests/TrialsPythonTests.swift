// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite(
  "Field trials in Python", .needs(.process),
  .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct TrialsPythonTests {
  /// The program on the page.
  private static func program() throws -> String {
    let page = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("Documentation/FieldTrials.md"),
      encoding: .utf8)
    let parts = page.components(separatedBy: "```python\n")
    #expect(parts.count == 2, "the page has one program")
    return try #require(parts.last?.components(separatedBy: "```").first)
  }

  @Test("The documented program computes the areas of firebreak trials from its CSV")
  func areas() async throws {
    let folder = try TemporaryFolder()
    let program = try Self.program()
    #expect(program.split(separator: "\n").count <= 10)
    try Data(program.utf8).write(to: folder.path("areas.py"))
    let run = try await Run(
      "trials", SharedData.url("fieldtrials").path, "--per-phone", folder.path("phones.csv").path,
      "--json")
    let ranks = try #require(try run.json()?["configurations"] as? [NSDictionary])
    let packages = SharedData.projectRoot.appendingPathComponent(".build/test-packages")
    let python = try await ChildProcess.run(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["-C", folder.url.path, "python3", folder.path("areas.py").path],
      environment: Run.environment(adding: ["PYTHONPATH": packages.path]))
    #expect(python.status == 0, "make prepare-tests installs pandas: \(python.errors)")
    let printed = python.output.split(separator: "\n").map(String.init)
    let expected = try ranks.map { rank in
      let name = try #require(rank["name"] as? String)
      return "\(name): \(String(format: "%.4f", try #require(rank["auc"] as? Double)))"
    }
    #expect(printed == expected)
  }
}
