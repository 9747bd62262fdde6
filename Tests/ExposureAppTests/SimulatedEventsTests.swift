// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Simulated events for developers") struct SimulatedEventsTests {
  @Test(
    "A simulated exposure is a risk of the last four days, with its notice, and survives a restart")
  func exposure() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let exposure = try await app.simulateExposure()
    #expect(await app.riskLevel >= .low)
    #expect(phone.clock.now.timeIntervalSince(exposure.day.start) < 5 * TestApp.day)
    #expect((300...1_500).contains(exposure.durationSeconds))
    #expect(await app.currentState.notices.contains(.risk))
    #expect(try await phone.launch().exposures.map(\.id) == [exposure.id])
    try await app.removeExposures()
    #expect(await app.riskLevel == .none)
  }

  @Test("A simulated failure is the last result until the next check")
  func failure() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    try await app.simulateFailedCheck()
    #expect(await app.lastFailure == .noConnection)
    #expect(await app.check() == .checked(.none))
    #expect(await app.lastFailure == nil)
  }

  @Test(
    "After a reset of the downloads, files are analysed again, and their exposures counted once")
  func downloads() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    let checks = await app.checks.count
    try await app.resetDownloads()
    #expect(await app.check() == .checked(.high))
    #expect(await app.checks.count == checks + 1)
    #expect(await app.exposures.count == 1)
  }

  @Test("After a reset, the onboarding starts again, and no permission counts as lost")
  func onboarding() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    try await app.finishOnboarding()
    try await app.resetOnboarding()
    #expect(await app.onboarding == .readyToFinish)
  }
}
