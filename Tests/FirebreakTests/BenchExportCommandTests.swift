import Foundation
import TestSupport
import Testing

@Suite("firebreak bench export")
struct BenchExportCommandTests {
  @Test("It exports the keys another process made, and says what the design asks for")
  func json() async throws {
    let run = try await Run("bench", "export", "--keys", "2000", "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    let names = Set(report.allKeys.compactMap { $0 as? String })
    #expect(
      names == [
        "build", "keys", "seconds", "peakMemoryMiB", "bytes", "deflateLevel", "database",
      ])
    #expect(report["keys"] as? Int == 2_000)
    #expect(report["database"] as? String == "sqlite")
    // Sixteen bytes of each key are chance and cannot be deflated.
    #expect(report["bytes"] as? Int ?? 0 > 32_000)
    #expect(report["seconds"] as? Double ?? 0 > 0)
  }

  @Test("Where its folder cannot be made, the refusal names it")
  func noFolder() async throws {
    let folder = try TemporaryFolder()
    let place = folder.path("a-file")
    try Data().write(to: place)
    for bench in ["export", "match"] {
      let run = try await Run(["bench", bench, "--keys", "20"], temporaryFolder: place)
      #expect(run.status == 3 && run.output.isEmpty, "\(bench)")
      #expect(run.errors.contains("The folder \(place.path)/firebreak-bench-"), "\(run.errors)")
      #expect(run.errors.contains("cannot be made"))
    }
  }

  @Test("A number of keys out of bounds is refused", arguments: ["0", "500001"])
  func refused(count: String) async throws {
    let run = try await Run("bench", "export", "--keys", count)
    #expect(run.status == 2 && run.output.isEmpty)
  }
}
