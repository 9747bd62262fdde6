import Foundation
import TestSupport
import Testing

@Suite("firebreak demo")
struct DemoCommandTests {
  @Test("A report that has no place is refused before the story begins")
  func report() throws {
    let folder = try TemporaryFolder()
    for path in ["/proc/none/report.html", folder.url.path] {
      let run = try Run("demo", "--report", path)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains("--report"))
    }
  }

  @Test("A folder to keep that is there already, or cannot be made, is refused")
  func keep() throws {
    let folder = try TemporaryFolder()
    let report = folder.path("report.html").path
    for path in [folder.url.path, "/proc/none/kept"] {
      let run = try Run("demo", "--report", report, "--keep", path)
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1 && run.errors.contains(path))
    }
  }

  @Test("Output that nobody takes is the machine's failure, not a crash")
  func fullOutput() throws {
    let folder = try TemporaryFolder()
    let report = folder.path("report.html").path
    for arguments in [["demo", "--report", report], ["demo", "--json", "--report", report]] {
      let run = try Run(arguments, output: URL(fileURLWithPath: "/dev/full"))
      #expect(run.status == 3)
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }
}
