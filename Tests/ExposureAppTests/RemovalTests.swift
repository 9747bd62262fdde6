import Foundation
import TestSupport
import Testing

@testable import ExposureApp

/// Documentation/App.md 6.
@Suite struct RemovalTests {
  private func exposedPhone() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: HandClock.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    return (phone, app)
  }

  @Test("An exposure stays for fourteen days and goes a second later, also from the disk")
  func fourteenDays() async throws {
    let (phone, app) = try await exposedPhone()
    phone.clock.move(by: 14 * HandClock.day)
    try await app.removeOldData()
    #expect(await app.store.state.exposures.count == 1)
    #expect(await app.riskLevel == .high)
    phone.clock.move(by: 1)
    try await app.removeOldData()
    #expect(await app.store.state.exposures.isEmpty)
    #expect(await app.riskChecks.isEmpty)
    #expect(await app.riskLevel == .none)
    #expect(try await phone.launch().store.state.exposures.isEmpty)
  }

  @Test("Removed exposures do not come back, and the cursor stays")
  func exposures() async throws {
    let (phone, app) = try await exposedPhone()
    try await app.removeExposures()
    #expect(await app.riskLevel == .none)
    _ = await app.check()
    #expect(await app.exposures.isEmpty)
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.notices.removed == [.risk])
  }

  @Test("D31: removing everything leaves no file, no notice, and exposure notifications off")
  func everything() async throws {
    let (phone, app) = try await exposedPhone()
    try await app.removeEverything()
    #expect(phone.temporary.files().isEmpty)
    #expect(!phone.script.state.isEnabled)
    #expect(Set(phone.notices.removed) == Set(Notice.Identifier.allCases))
    #expect(await app.onboarding == .readyToFinish)
    #expect(await app.cursor == nil)
    let again = try phone.launch()
    #expect(await again.storage == .ready)
    #expect(await again.exposures.isEmpty)
  }
}
