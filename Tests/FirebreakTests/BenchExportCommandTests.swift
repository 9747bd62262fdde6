import Foundation
import Testing

@Suite("firebreak bench export")
struct BenchExportCommandTests {
  @Test("It exports the keys another process made, and says what the design asks for")
  func json() throws {
    let run = try Run("bench", "export", "--keys", "2000", "--json")
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

  @Test("A number of keys out of bounds is refused", arguments: ["0", "500001"])
  func refused(count: String) throws {
    let run = try Run("bench", "export", "--keys", count)
    #expect(run.status == 2 && run.output.isEmpty)
  }
}
