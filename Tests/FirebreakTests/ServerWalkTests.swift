// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Examples in Documentation/ServerAPI.md", .needs(.process))
struct ServerWalkTests {
  /// A code block of the page and the expectation below it.
  private struct Step {
    var script: String
    var status: Int?
    var fields: [String] = []
    /// The exit status of its last command.
    var end: Int?
  }

  private struct Outcome {
    let status: Int?
    let fields: Set<String>
  }

  private static func page() throws -> String {
    try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("Documentation/ServerAPI.md"),
      encoding: .utf8)
  }

  /// The settings files on the page, by their path in the servers' folder.
  private static func settings() throws -> [String: String] {
    let blocks = try page().components(separatedBy: "```json ").dropFirst().map {
      $0.components(separatedBy: "\n```")[0].split(separator: "\n", maxSplits: 1)
    }
    return Dictionary(uniqueKeysWithValues: blocks.map { (String($0[0]), String($0[1])) })
  }

  private static func steps() throws -> [Step] {
    try page().components(separatedBy: "```sh\n").dropFirst().map { part in
      let halves = part.components(separatedBy: "\n```\n")
      let below = halves.dropFirst().joined()
      let end = below.firstMatch(of: #/^\s*Ends with (\d)/#.anchorsMatchLineEndings())
        .flatMap { Int($0.1) }
      guard
        let response = below.firstMatch(of: #/^\s*Returns (\d{3})(.*)/#.anchorsMatchLineEndings())
      else { return Step(script: halves[0], end: end) }
      return Step(
        script: halves[0], status: Int(response.1),
        fields: response.2.matches(of: #/`(\w+)`/#).map { String($0.1) })
    }
  }

  private func outcome(_ file: URL) throws -> Outcome {
    let lines = try String(contentsOf: file, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    let body = lines.dropLast(2).joined(separator: "\n")
    let json = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
    return Outcome(
      status: lines.dropLast().last.flatMap { Int($0) }, fields: Set((json ?? [:]).keys))
  }

  @Test("Each request on the page gets the response with the status and the fields on the page")
  func walk() async throws {
    let steps = try Self.steps()
    #expect(steps.count { $0.status != nil } >= 30)
    let folder = try TemporaryFolder()
    try ServedAuthority.write(try Self.settings(), in: folder)
    let servers = try await ServedFirebreak(folder: folder)
    defer { withExtendedLifetime(servers) {} }
    let addresses = try await servers.addresses()
    let script = steps.enumerated().map { number, step in
      "{\n\(step.script)\n} > out.\(number)\necho $? > end.\(number)"
    }
    let run = try await Shell.run(
      (["set -u", "cd '\(folder.url.path)'"] + script).joined(separator: "\n"),
      environment: [
        "FIREBREAK": try Run.product().path, "DATA": servers.data,
        "VERIFICATION": addresses["verification"] ?? "", "KEYS": addresses["keys"] ?? "",
      ])
    #expect(run.errors.isEmpty, "\(run.errors)")
    for (number, step) in steps.enumerated() {
      if let end = step.end {
        let ended = try String(contentsOf: folder.path("end.\(number)"), encoding: .utf8)
        #expect(ended == "\(end)\n", "\(step.script)")
      }
      guard let status = step.status else { continue }
      let outcome = try outcome(folder.path("out.\(number)"))
      #expect(outcome.status == status, "\(step.script)")
      #expect(outcome.fields.isSuperset(of: step.fields), "\(step.script): \(outcome.fields)")
    }
    #expect(try await servers.stop() == 0)
  }
}
