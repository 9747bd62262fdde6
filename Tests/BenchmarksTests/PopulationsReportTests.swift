// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import firebreak_benchmarks

@Suite("Report of populations") struct PopulationsReportTests {
  private func run(
    phones: Int = 1_000, summary: String? = nil, processor: Duration = .seconds(20),
    mebibytes: Int = 150
  ) throws -> SimulatedPopulation {
    try SimulatedPopulation(
      phones: phones,
      summary: summary
        ?? #"{"runs":[{"phones":\#(phones),"receivingScansPerPhoneAndDay":252}],"without":{}}"#,
      seconds: .seconds(12), processor: processor, peakBytes: mebibytes << 20)
  }

  @Test("The memory of a phone is the difference of the peaks over that of the phones")
  func figures() throws {
    let small = try run(phones: 100, mebibytes: 100)
    let report = try PopulationsReport(days: 3, threads: 2, small: small, large: run())
    #expect(report.memoryPerPhoneKiB == 56.9)
    #expect(report.peakMemoryMiB == 150)
    #expect(report.personDaysPerProcessorSecond == 150)
    #expect(report.processorSeconds == 20 && report.seconds == 12)
    #expect(report.receivingScansPerPhoneAndDay == 252)
    #expect(report.text.contains("phones      1000 for 3 days, threads: 2"))
  }

  @Test(
    "A summary without the scans, or of another number of phones, is an error",
    arguments: [
      "", "{}", #"{"runs":[]}"#, #"{"runs":[{"phones":1000}]}"#,
      #"{"runs":[{"phones":1000,"receivingScansPerPhoneAndDay":null}]}"#,
      #"{"runs":[{"phones":999,"receivingScansPerPhoneAndDay":252}]}"#,
    ])
  func absent(summary: String) {
    let error = #expect(throws: (any Error).self) { _ = try run(summary: summary) }
    #expect("\(error, default: "")".contains("receivingScansPerPhoneAndDay"))
  }

  @Test("Runs that do not differ in memory, or without processor time, are an error")
  func unmeasured() throws {
    let small = try run(phones: 100)
    for large in [try run(), try run(processor: .zero, mebibytes: 200)] {
      let error = #expect(throws: (any Error).self) {
        _ = try PopulationsReport(days: 3, threads: 2, small: small, large: large)
      }
      #expect("\(error, default: "")".contains("simulate more phones"))
    }
  }
}
