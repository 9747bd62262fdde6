// SPDX-License-Identifier: Apache-2.0
import Bench
import Foundation
import Testing

@testable import firebreak_benchmarks

@Suite("Report of uploads with PostgreSQL")
struct PostgreSQLReportTests {
  private func uploads(
    _ perSecond: Double, server: Double = 0, database: Double = 0, failed: Int = 0
  ) -> MeasuredUploads {
    MeasuredUploads(
      perSecond: perSecond, p50Milliseconds: 4, p99Milliseconds: 10, serverMicroseconds: server,
      databaseMicroseconds: database, failed: failed)
  }

  private func report(
    failed: Int = 0, most: [Int] = [12_000_000, 2_500_000, 500_000]
  ) -> PostgreSQLReport {
    PostgreSQLReport(
      uploads: 100, sqlite8: uploads(500), sqlite32: uploads(1_000, server: 400),
      postgreSQL8: uploads(400), postgreSQL32: uploads(900, server: 300, database: 250),
      twoProcesses: uploads(1_080), threeProcesses: uploads(990),
      growth: [
        .init(storedKeys: 0, uploads: uploads(800)),
        .init(storedKeys: most[0], uploads: uploads(600, failed: failed)),
      ],
      sqliteGrowth: [
        .init(storedKeys: 0, uploads: uploads(1_000)),
        .init(storedKeys: most[1], uploads: uploads(590)),
      ],
      export: .init(
        keys: most[2], seconds: 2, serverSeconds: 0.3, databaseSeconds: 0.6, ownMemoryMiB: 41,
        zlib: .init(deflateNanoseconds: 1_440, inflateNanoseconds: 66)))
  }

  @Test("Ratios are those of PostgreSQL to SQLite, of two processes to one, and of full to empty")
  func ratios() throws {
    let report = report()
    #expect(report.rateBesideSQLite == 0.9 && report.rateOfTwoProcesses == 1.2)
    #expect(report.rateOfThreeProcesses == 1.1)
    #expect(report.processorMicroseconds == 550)
    #expect(report.ratesBesideFirst == [1, 0.75])
    #expect(report.postgreSQL32.tail == 2.5)
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report))
    let fields = try #require(json as? [String: Any])
    #expect(fields["rateBesideSQLite"] as? Double == 0.9)
    #expect(fields["rateOfThreeProcesses"] as? Double == 1.1 && fields["threeProcesses"] != nil)
    #expect((fields["growth"] as? [[String: Any]])?.last?["storedKeys"] as? Int == 12_000_000)
  }

  @Test("Each figure is beside its target, and says whether it holds")
  func figures() {
    let figures = report().figures
    #expect(figures.count == 14)
    #expect(
      figures.filter { !$0.holds }.map(\.name) == [
        "processor time of an upload, PostgreSQL beside SQLite",
        "SQLite, 2500000 keys beside 0, rate",
        "export of 500000 keys, peak without the program, MiB",
      ])
    #expect(figures.first { $0.name.hasSuffix("PostgreSQL beside SQLite") }?.value == 1.38)
    #expect(figures.first { $0.name.contains("zlib") }?.value == 1.25)
    #expect(figures.contains { $0.name.hasSuffix("processor time, s") && $0.value == 0.9 })
    #expect(
      report().text.contains(
        "\nSQLite, 2500000 keys beside 0, rate: 0.59, target at least 0.6: FAILS\n"))
    #expect(
      report().text.contains(
        "\nprocessor time of an upload, µs: 550.0, target at most 700: holds\n"))
  }

  @Test("Other numbers of keys than those of the targets are not judged")
  func otherNumbers() {
    let report = report(most: [50_000_000, 1_000, 2_000])
    let withoutTarget = report.figures.filter { $0.target == nil }
    #expect(
      withoutTarget.map(\.name) == [
        "three processes beside one, rate",
        "PostgreSQL, 50000000 keys beside 0, rate", "SQLite, 1000 keys beside 0, rate",
        "export of 2000 keys, processor time, s",
        "export of 2000 keys, processor time beside zlib's for the deflate, ratio",
        "export of 2000 keys, peak without the program, MiB",
      ])
    #expect(report.figures.count == 14)
    #expect(report.text.contains("\nSQLite, 1000 keys beside 0, rate: 0.59\n"))
  }

  @Test("Uploads that were not accepted are counted in all measurements")
  func failures() {
    #expect(report().failed == 0)
    #expect(report(failed: 3).failed == 3)
    let failing = uploads(1, failed: 1)
    let all = PostgreSQLReport(
      uploads: 1, sqlite8: failing, sqlite32: failing, postgreSQL8: failing,
      postgreSQL32: failing, twoProcesses: failing, threeProcesses: failing,
      growth: [.init(storedKeys: 0, uploads: failing)],
      sqliteGrowth: [.init(storedKeys: 0, uploads: failing)], export: nil)
    #expect(all.failed == 8)
  }
}
