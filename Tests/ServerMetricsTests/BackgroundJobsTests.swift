// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics
import TestSupport
import Testing
import World

@Suite("Background jobs as metrics")
struct BackgroundJobsTests {
  private struct Failure: Error {}

  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))

  private func values(_ jobs: BackgroundJobs, _ name: String) -> [String: Double] {
    let samples = jobs.families.first { $0.name == name }?.samples ?? []
    return Dictionary(
      samples.map { ($0.labels.first?.value ?? "", $0.value) }, uniquingKeysWith: { $1 })
  }

  @Test("Each run counts once, and a failure leaves the time of the last success")
  func runs() async throws {
    let jobs = BackgroundJobs([.export, .cleanup], clock: clock)
    let (time, failures) =
      ("firebreak_job_last_success_timestamp_seconds", "firebreak_job_failures_total")
    #expect(values(jobs, time) == ["export": 0, "cleanup": 0])
    let value = try await jobs.record(.export) { 7 }
    #expect(value == 7)
    clock.advance(by: 60)
    await #expect(throws: Failure.self) { try await jobs.record(.export) { throw Failure() } }
    #expect(values(jobs, time) == ["export": 1_600_000_000, "cleanup": 0])
    #expect(values(jobs, failures) == ["export": 1, "cleanup": 0])
    try await jobs.record(.export) {}
    #expect(values(jobs, time)["export"] == 1_600_000_060)
  }

  @Test("A cancelled run is no failure")
  func cancelled() async {
    let jobs = BackgroundJobs([.check], clock: clock)
    await #expect(throws: CancellationError.self) {
      try await jobs.record(.check) { throw CancellationError() }
    }
    #expect(values(jobs, "firebreak_job_failures_total") == ["check": 0])
  }

  @Test("The metrics of this process are plausible")
  func process() throws {
    let families = ProcessMetrics.families(at: SystemClock().now)
    func value(_ name: String) throws -> Double {
      try #require(families.first { $0.name == name }?.samples.first?.value)
    }
    #expect(try value("process_resident_memory_bytes") > 1_048_576)
    #expect(try value("process_open_fds") >= 3)
    #expect(try value("process_open_fds") < value("process_max_fds"))
    #expect(try value("process_start_time_seconds") <= SystemClock().now.timeIntervalSince1970 + 1)
    #expect(try value("process_start_time_seconds") > 1_700_000_000)
  }
}
