// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("The commands in Documentation/Operating.md", .needs(.process))
struct OperatingTests {
  /// Commands of the page with the response below them, if there is one.
  private struct Step {
    let script: String
    let response: [String]?
  }

  private static func steps() throws -> [Step] {
    let page = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("Documentation/Operating.md"),
      encoding: .utf8)
    return page.components(separatedBy: "```sh\n").dropFirst().map { part in
      let halves = part.components(separatedBy: "\n```\n")
      guard halves.count > 1, halves[1].hasPrefix("\n```text\n") else {
        return Step(script: halves[0], response: nil)
      }
      let lines = halves[1].dropFirst("\n```text\n".count)
      return Step(script: halves[0], response: lines.components(separatedBy: "\n"))
    }
  }

  /// True if `line` is `pattern`, in which each `…` stands for some text.
  private func matches(_ line: Substring, _ pattern: String) -> Bool {
    let parts = pattern.components(separatedBy: "…").map {
      NSRegularExpression.escapedPattern(for: $0)
    }
    let expression = "^" + parts.joined(separator: ".+") + "$"
    return line.range(of: expression, options: .regularExpression) != nil
  }

  @Test("Each command gets the response on the page, from the first start to the deletion")
  func walk() async throws {
    let steps = try Self.steps()
    #expect(steps.count >= 14)
    for step in steps where step.response == nil { Issue.record("no response: \(step.script)") }
    let folder = try TemporaryFolder()
    let programs = folder.path("programs")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: programs.appendingPathComponent("firebreak"), withDestinationURL: try Run.product())
    let script = steps.enumerated().map { number, step in
      "{\n\(step.script)\n} > out.\(number)"
    }
    // The servers end also if a command fails.
    let start = ["set -u", "trap 'kill %1 2>/dev/null' EXIT", "cd '\(folder.url.path)'"]
    let run = try await Shell.run(
      (start + script).joined(separator: "\n"),
      environment: [
        "PATH": "\(programs.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
        "DATA": folder.path("data").path, "PORT": "0", "METRICS_PORT": "0",
      ])
    #expect(run.errors.isEmpty, "\(run.errors)")
    for (number, step) in steps.enumerated() {
      guard let response = step.response else { continue }
      let text = try String(contentsOf: folder.path("out.\(number)"), encoding: .utf8)
      let lines = text.split(separator: "\n")
      let isAsExpected =
        lines.count == response.count && zip(lines, response).allSatisfy { matches($0, $1) }
      #expect(isAsExpected, "\(step.script)\n\(text)")
    }
  }
}
