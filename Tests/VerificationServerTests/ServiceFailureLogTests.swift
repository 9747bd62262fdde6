// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics
import ServerStorage
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// The lines about a service that fails, such as the SMS gateway.
@Suite("Failing services in the log")
struct ServiceFailureLogTests {
  private let clock = ManualClock(VerificationBench.start)
  private let log = CollectedLog()

  private func failures() -> ServiceFailureLog {
    ServiceFailureLog(name: "gateway", advice: "check it", clock: clock, logger: log.logger)
  }

  @Test("A service whose answers differ each time gets few lines, with the number of the others")
  func varying() {
    let failures = failures()
    for number in 0..<1_000 { failures.failed("answer \(number)") }
    #expect(log.errors.count == ServiceFailureLog.textsMax)
    clock.advance(by: ServiceFailureLog.repeatSeconds)
    failures.failed("answer 1000")
    #expect(log.errors.count == ServiceFailureLog.textsMax + 1)
    #expect(log.errors.last?.contains("997 more failures since the last line") == true)
  }

  @Test("The same failure is one line in ten minutes, and a recovery is one too")
  func same() {
    let failures = failures()
    for _ in 0..<100 { failures.failed("status 500") }
    #expect(log.errors.count == 1)
    failures.succeeded()
    failures.succeeded()
    #expect(log.lines.count { $0.contains("works again") } == 1)
    failures.failed("status 500")
    #expect(log.errors.count == 2)
  }

  @Test("The metric shows a failure and a recovery at the end of their window of ten minutes")
  func shown() {
    let clock = ManualClock(Date(unixSecond: 1_800_000_000))
    let failures = ServiceFailureLog(
      name: "gateway", advice: "check it", clock: clock, logger: log.logger)
    func endWindow() { clock.advance(by: CoarseCounts.windowSeconds) }
    clock.advance(by: 60)
    failures.failed("status 500")
    #expect(failures.failingCount == 0)
    endWindow()
    #expect(failures.failingCount == 1)
    failures.succeeded()
    #expect(failures.failingCount == 1)
    endWindow()
    #expect(failures.failingCount == 0)
    // One that ended within its window is not shown.
    failures.failed("status 500")
    failures.succeeded()
    endWindow()
    #expect(failures.failingCount == 0)
    // Without a reading in between, the state at the end of the last window counts.
    failures.failed("status 500")
    endWindow()
    failures.succeeded()
    #expect(failures.failingCount == 1)
  }

  @Test(
    "NHS, September 2020: texts of a source that are not sent are seen in a metric in ten minutes")
  func unsent() async throws {
    let folder = try TemporaryFolder()
    let spool = SMSSpool(folder: folder.path("no"))
    try await RunningServer.run(
      in: folder.url, configure: { $0.sms = SMSConfiguration(sender: spool, region: "PL") }
    ) { server async throws in
      func failing() async -> Double? {
        let families = await server.server.families()
        return families.first { $0.name == "firebreak_services_failing" }?.samples.first?.value
      }
      #expect(await failing() == 0)
      let issued = try await server.admin(
        VerificationRoute.issue, #"{"testType":"confirmed","phone":"+48123456789"}"#)
      #expect(issued.refusal == "400 sms_failure")
      server.clock.advance(by: CoarseCounts.windowSeconds)
      #expect(await failing() == 1)
    }
  }

  @Test("Many failing parts with their own answers share few lines")
  func manyParts() {
    let failures = failures()
    for number in 0..<5_000 { failures.failed("answer \(number)", part: "part \(number)") }
    #expect(log.errors.count <= 1_000 + ServiceFailureLog.textsMax)
  }
}
