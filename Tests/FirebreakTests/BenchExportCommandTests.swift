// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak bench export", .needs(.process))
struct BenchExportCommandTests {
  @Test("The JSON report has the documented fields")
  func json() async throws {
    let run = try await Run("bench", "export", "--keys", "2000", "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    let names = Set(report.allKeys.compactMap { $0 as? String })
    #expect(
      names == [
        "build", "keys", "seconds", "processorSeconds", "peakMemoryMiB", "programMemoryMiB",
        "bytes", "deflateLevel", "database", "zlib",
      ])
    let zlib = try #require(report["zlib"] as? [String: Double])
    #expect(Set(zlib.keys) == ["deflateNanoseconds", "inflateNanoseconds"])
    #expect(zlib.values.allSatisfy { $0 > 0 })
    #expect(report["keys"] as? Int == 2_000)
    #expect(report["database"] as? String == "sqlite")
    // 16 bytes of each key are random and do not compress.
    #expect(report["bytes"] as? Int ?? 0 > 32_000)
    #expect(report["seconds"] as? Double ?? 0 > 0)
    let peak = report["peakMemoryMiB"] as? Double ?? 0
    #expect(0..<peak ~= (report["programMemoryMiB"] as? Double ?? -1))
  }

  @Test("An export from PostgreSQL has the same keys, and an address of another kind is rejected")
  func postgreSQL() async throws {
    let address = try await PrivatePostgreSQL.newDatabase()
    let run = try await Run(
      "bench", "export", "--keys", "2000", "--database", address, "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(report["database"] as? String == "postgresql")
    #expect(report["bytes"] as? Int ?? 0 > 32_000)
    #expect(report["processorSeconds"] as? Double ?? 0 > 0)
    let other = try await Run("bench", "export", "--database", "http://127.0.0.1/keys")
    #expect(other.status == 2 && other.errors.contains("--database"), "\(other.errors)")
  }

  @Test("A database with tables is refused, and gets no more keys")
  func filled() async throws {
    let server = try await PrivatePostgreSQL.shared()
    let name = "bench_export_twice"
    let address = try await server.createDatabase(name)
    let export = ["bench", "export", "--keys", "2000", "--database", address]
    let first = try await Run(export)
    #expect(first.status == 0, "\(first.errors)")
    let second = try await Run(export)
    #expect(second.status == 2 && second.output.isEmpty)
    #expect(second.errors.contains("has tables already"), "\(second.errors)")
    let count = "SELECT count(*) FROM diagnosis_key"
    #expect(try await server.run(count, in: name) == 2_000)
    // Also one without a table of ours.
    let foreign = try await server.createDatabase("bench_export_foreign")
    try await server.run("CREATE TABLE t (a bigint)", in: "bench_export_foreign")
    let third = try await Run("bench", "export", "--keys", "2000", "--database", foreign)
    #expect(third.status == 2 && third.errors.contains("has tables already"), "\(third.errors)")
  }

  @Test("A temporary folder that cannot be created is named in the error")
  func noFolder() async throws {
    let folder = try TemporaryFolder()
    let place = folder.path("a-file")
    try Data().write(to: place)
    for bench in ["export", "match"] {
      let run = try await Run(["bench", bench, "--keys", "20"], temporaryFolder: place)
      #expect(run.status == 3 && run.output.isEmpty, "\(bench)")
      #expect(run.errors.contains("The folder \(place.path)/firebreak-bench-"), "\(run.errors)")
      #expect(run.errors.contains("cannot be created"))
    }
  }

  @Test("A number of keys outside the limits is rejected", arguments: ["0", "500001"])
  func refused(count: String) async throws {
    let run = try await Run("bench", "export", "--keys", count)
    #expect(run.status == 2 && run.output.isEmpty)
  }
}
