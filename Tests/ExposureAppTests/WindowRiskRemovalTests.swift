import Foundation
import TestSupport
import Testing

@testable import ExposureApp

/// Documentation/App.md 6.2, for days that a policy judged: the framework tells of them again.
@Suite struct WindowRiskRemovalTests {
  private func exposed() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    return (phone, app)
  }

  @Test("A removed day does not come back, also after a restart, and is not told again")
  func removed() async throws {
    let (phone, app) = try await exposed()
    try await app.removeExposures()
    #expect(await app.riskLevel == .none)
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    try await app.removeExposures()
    phone.publish(0..<3)
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.notices.risks == [.high])
    #expect(phone.notices.removed == [.risk, .risk])
  }

  @Test("A removed day with a new encounter comes back, and so does another day")
  func more() async throws {
    let (phone, app) = try await exposed()
    try await app.removeExposures()
    phone.script.update { $0.windows.append(.beside(minutes: 6, daysAgo: 2)) }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.low))
    #expect(await app.exposures.map(\.judgement?.normalizedMinutes) == [6])
    phone.script.update { $0.windows.append(.beside(minutes: 1)) }
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.map(\.judgement?.normalizedMinutes) == [21, 6])
    try await app.removeExposures()
    phone.publish(0..<4)
    #expect(await app.check() == .checked(.none))
  }

  @Test("A judged day and its removal go after fourteen days; everything goes with everything")
  func fourteenDays() async throws {
    let (phone, app) = try await exposed()
    phone.clock.move(by: 12.5 * HandClock.day)
    try await app.removeOldData()
    #expect(await app.riskLevel == .high)
    try await app.removeExposures()
    #expect(await app.store.state.removedDays?.count == 1)
    phone.clock.move(by: 1)
    try await app.removeOldData()
    #expect(await app.store.state.removedDays?.isEmpty == true)
    try await app.removeEverything()
    #expect(phone.temporary.files().isEmpty)
  }
}
