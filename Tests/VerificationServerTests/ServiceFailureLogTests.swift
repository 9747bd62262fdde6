// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import TestSupport
import Testing

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

  @Test("Many failing parts with their own answers share few lines")
  func manyParts() {
    let failures = failures()
    for number in 0..<5_000 { failures.failed("answer \(number)", part: "part \(number)") }
    #expect(log.errors.count <= 1_000 + ServiceFailureLog.textsMax)
  }
}
