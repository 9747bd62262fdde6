// SPDX-License-Identifier: Apache-2.0
import Bench
import Foundation
import Testing

@testable import firebreak_benchmarks

@Suite("Report of a key server with SQLite")
struct KeyServerReportTests {
  private func uploads(_ perSecond: Double, p99: Double = 10, failed: Int = 0) -> MeasuredUploads {
    MeasuredUploads(
      perSecond: perSecond, p50Milliseconds: 2, p99Milliseconds: p99, serverMicroseconds: 400,
      databaseMicroseconds: 0, failed: failed)
  }

  private func report(
    index: Double = 30, imported: Int = 100_000, zip: Double = 250, exported: Int = 500_000,
    stored: Int = 2_500_000, failed: Int = 0,
    zlib: ZlibTimes? = .init(deflateNanoseconds: 1_000, inflateNanoseconds: 100)
  ) -> KeyServerReport {
    KeyServerReport(
      index: .init(requests: 1_000, microseconds: index, nginxMicroseconds: 15),
      imported: .init(
        keys: imported, seconds: 2, processorSeconds: 1, ownMemoryMiB: nil, zlib: nil),
      match: .init(
        keys: 1_000, fileNanoseconds: 200, zipNanoseconds: zip, differenceNanoseconds: zip - 200),
      exported: .init(
        keys: exported, seconds: 1, processorSeconds: 0.5, ownMemoryMiB: 40, zlib: zlib),
      few: uploads(500), many: uploads(900, failed: failed),
      growth: [
        UploadGrowth(storedKeys: 0, uploads: uploads(1_000)),
        UploadGrowth(storedKeys: stored, uploads: uploads(600)),
      ])
  }

  @Test("Each figure that reaches its target holds")
  func holds() {
    let figures = report().figures
    #expect(figures.count == 11 && figures.allSatisfy(\.holds))
    #expect(figures.count { $0.target != nil } == 9)
    #expect(figures.contains { $0.name.contains("beside nginx") && $0.value == 2 })
  }

  @Test("Figures beyond their targets fail, and the text says so")
  func fails() {
    let report = report(index: 34.6, zip: 250.1)
    #expect(report.figures.count { !$0.holds } == 3)
    for line in [
      "304 of the index, processor time, µs: 34.6, target at most 30: FAILS",
      "304 of the index beside nginx, processor time, ratio: 2.31, target at most 2.3: FAILS",
      "match from a zip above that from a file, processor time of a key, ns: 50.1,"
        + " target at most 50: FAILS",
    ] { #expect(report.text.contains(line + "\n"), "\(line)") }
  }

  @Test("Processor times are also divided by those of zlib, without a target")
  func besideZlib() {
    let figures = report(zip: 300).figures.filter { $0.name.contains("zlib") }
    #expect(figures.map(\.value) == [1, 1])
    #expect(figures.allSatisfy { $0.target == nil && $0.holds })
    #expect(!report(zlib: nil).figures.contains { $0.name.contains("zlib") })
  }

  @Test("Other numbers of keys have no target")
  func otherWorkload() {
    let figures = report(imported: 10, exported: 10, stored: 10).figures
    #expect(figures.count { $0.target != nil } == 5)
  }

  @Test("What was not measured is left out, and failed uploads are counted")
  func partial() throws {
    let report = KeyServerReport(
      index: nil, imported: nil, match: nil, exported: nil, few: nil, many: nil, growth: [])
    #expect(report.figures.isEmpty && report.text.isEmpty && report.failed == 0)
    #expect(self.report(failed: 3).failed == 3)
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(self.report()))
    let fields = try #require(json as? [String: Any])
    #expect((fields["figures"] as? [[String: Any]])?.count == 11)
  }
}
