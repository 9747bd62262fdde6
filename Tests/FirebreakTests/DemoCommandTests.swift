// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak demo", .needs(.process))
struct DemoCommandTests {
  private struct Report: Decodable {
    struct Step: Decodable {
      let name: String
      let ok: Bool
      let milliseconds: Int
    }

    struct Phone: Decodable {
      let name: String
      let riskLevel: Int
      let notices: Int
    }

    let ok: Bool
    let steps: [Step]
    let phones: [Phone]
  }

  @Test(
    "With --json the demo prints one object: all steps passed, and only the near phone has a notice"
  )
  func json() async throws {
    let folder = try TemporaryFolder()
    let page = folder.path("deep/report.html")
    let run = try await Run("demo", "--json", "--report", page.path)
    #expect(run.status == 0 && run.errors.isEmpty)
    let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
    #expect(report.ok && report.steps.count >= 8 && report.steps.allSatisfy(\.ok))
    #expect(report.steps.allSatisfy { $0.milliseconds >= 0 && !$0.name.isEmpty })
    #expect(report.phones.map(\.name) == ["near", "far", "diagnosed"])
    #expect(report.phones.map(\.riskLevel) == [3, 0, 0])
    #expect(report.phones.map(\.notices) == [1, 0, 0])
    #expect(try String(contentsOf: page, encoding: .utf8).contains("Near received a notice"))
  }

  @Test("Without --json the demo prints a line for each step and the path of the report")
  func text() async throws {
    let folder = try TemporaryFolder()
    let page = folder.path("report.html")
    let run = try await Run("demo", "--report", page.path)
    #expect(run.status == 0)
    #expect(run.output.split(separator: "\n").count { $0.hasPrefix("\u{2713}") } >= 8)
    #expect(run.output.contains(page.path))
    #expect(!run.output.contains("\u{1B}["), "no colours in a pipe")
  }

  @Test("A report path that cannot be written is refused before the demo starts")
  func report() async throws {
    let folder = try TemporaryFolder()
    for path in ["/proc/none/report.html", folder.url.path] {
      let run = try await Run("demo", "--report", path)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains("--report"))
    }
  }

  @Test("An existing folder, or one that cannot be created, is refused for --keep")
  func keep() async throws {
    let folder = try TemporaryFolder()
    let report = folder.path("report.html").path
    for path in [folder.url.path, "/proc/none/kept"] {
      let run = try await Run("demo", "--report", report, "--keep", path)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains(path))
    }
  }

  @Test("A failed write to stdout ends the demo with 3 and not with a crash")
  func fullOutput() async throws {
    let folder = try TemporaryFolder()
    let report = folder.path("report.html").path
    for arguments in [["demo", "--report", report], ["demo", "--json", "--report", report]] {
      let run = try await Run(arguments, output: URL(fileURLWithPath: "/dev/full"))
      #expect(run.status == 3)
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }
}
