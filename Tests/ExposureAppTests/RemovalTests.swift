// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Removal") struct RemovalTests {
  fileprivate func exposedPhone() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    return (phone, app)
  }

  @Test("Forgetting an upload stops the app's attempts to finish it, each time, but not the user's")
  func forgottenUpload() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    func sentCount() -> Int { phone.network.requests(for: TestApp.uploadPath).count }
    for pin in ["A1B2C3", "D4E5F6"] {
      // The pause after the attempt that was stopped.
      phone.clock.advance(by: 60)
      phone.network.script(TestApp.uploadPath, .fails(.interrupted), .hangs)
      _ = await app.upload(pin: pin, isInteroperabilityEnabled: true)
      let sent = sentCount()
      let check = Task { await app.check() }
      await Patience.yielding { sentCount() > sent }
      #expect(try await app.forgetUpload() == nil)
      #expect(try await app.uploadRecord.pending == nil)
      // An attempt that was not stopped would wait for the server.
      check.cancel()
      _ = await check.value
      #expect(try await app.uploadRecord.pending == nil)
    }
    phone.network.script(TestApp.uploadPath, .hangs)
    let sent = sentCount()
    let upload = Task { await app.upload(pin: "G7H8J9", isInteroperabilityEnabled: true) }
    await Patience.yielding { sentCount() > sent }
    for _ in 1...2 { #expect(try await app.forgetUpload()?.reason == .alreadyRunning) }
    #expect(try await app.uploadRecord.pending != nil)
    upload.cancel()
    #expect(await upload.value.reason == .stopped)
    #expect(try await app.forgetUpload() == nil)
    #expect(try await app.uploadRecord.pending == nil)
  }

  @Test("An exposure is kept for fourteen days from the start of its day, and a check from its end")
  func fourteenDays() async throws {
    let (phone, app) = try await exposedPhone()
    try await phone.pass(13.5 * TestApp.day, in: app)
    #expect(await app.store.state.exposures.count == 1)
    #expect(await app.riskLevel == .high)
    phone.clock.advance(by: 1)
    try await app.removeOldData()
    #expect(await app.store.state.exposures.isEmpty)
    #expect(await app.riskLevel == .none)
    #expect(try await phone.launch().store.state.exposures.isEmpty)
    #expect(await app.checks.count == 1)
    try await phone.pass(TestApp.day / 2, in: app)
    try await app.removeOldData()
    #expect(await app.checks.isEmpty)
  }

  @Test(
    "A clock that is two weeks ahead for an hour removes nothing, and a lasting one removes all")
  func jump() async throws {
    let (phone, app) = try await exposedPhone()
    try await phone.pass(2 * TestApp.day, in: app)
    phone.publish(0..<2, except: [1: .response(404)])
    #expect(await app.check() == .failed(.filesMissing))
    let before = await app.store.state
    #expect(before.download.pending.map(\.text) == [TestApp.name(1)])
    phone.network.index([])
    phone.clock.advance(by: 15 * TestApp.day)
    for _ in 0..<3 {
      _ = await app.check()
      #expect(await app.riskLevel == .high)
      #expect(await app.exposures.count == 1)
      phone.clock.advance(by: 1_200)
    }
    phone.clock.advance(by: -15 * TestApp.day)
    let restarted = try phone.launch()
    _ = await restarted.check()
    let after = await restarted.store.state
    #expect(after.exposures == before.exposures && after.history.checks.count == 1)
    #expect(after.history.dayChecks == before.history.dayChecks)
    #expect(after.download.pending == before.download.pending)
    #expect(phone.notices.risks == [.high])
    phone.clock.advance(by: 15 * TestApp.day)
    try await phone.pass(1.5 * TestApp.day, in: restarted)
    // The server has listed no file for two weeks.
    #expect(await restarted.check() == .failed(.noKeyFiles))
    let last = await restarted.store.state
    #expect(last.exposures.isEmpty && last.history.checks.isEmpty)
    #expect(last.download.isComplete)
  }

  @Test("Rows of the history of a clock that ran ahead are removed when it is right again")
  func ahead() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    try await phone.pass(2 * TestApp.day, in: app)
    phone.clock.advance(by: 365 * TestApp.day)
    try phone.serve(try phone.document(version: 2))
    phone.publish(0..<1)
    _ = await app.check()
    phone.publish(2_200..<2_201)
    #expect(await app.check() == .checked(.none))
    #expect(await app.checks.count == 2)
    phone.clock.advance(by: -365 * TestApp.day)
    try await app.removeOldData()
    #expect(await app.checks.isEmpty)
    #expect(await app.checks.isEmpty)
    #expect(await app.store.state.history.dayChecks.values.allSatisfy { $0 == 0 })
  }

  @Test("Removed exposures do not return, and the cursor stays")
  func exposures() async throws {
    let (phone, app) = try await exposedPhone()
    try await app.removeExposures()
    #expect(await app.riskLevel == .none)
    _ = await app.check()
    #expect(await app.exposures.isEmpty)
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.notices.removed == [.risk])
  }

  @Test("Removing everything leaves no file and no notice, and turns notifications off")
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

extension RemovalTests {
  @Test(
    "Removing everything stops a running upload and a running check, which store nothing afterwards",
    arguments: [TestApp.tokenPath, TestApp.uploadPath, "/index.txt"])
  func everythingWhileRunning(path: String) async throws {
    let (phone, app) = try await exposedPhone()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.t.s"}}"#))
    phone.network.script(path, .hangs)
    let before = phone.network.requests(for: path).count
    let work = Task {
      if path == "/index.txt" { return await app.check().isSuccess }
      return await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) == .success
    }
    await Patience.yielding { phone.network.requests(for: path).count > before }
    try await app.removeEverything()
    #expect(await !work.value)
    #expect(phone.temporary.files().isEmpty)
    #expect(await !app.hasPendingUpload)
    #expect(await app.store.state.history.lastFailure == nil)
    #expect(try await !phone.launch().hasPendingUpload)
  }
}

@Suite("Removal of days from exposure windows") struct WindowRiskRemovalTests {
  private func exposed() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    return (phone, app)
  }

  @Test("A removed day does not return after a check or a restart, and is not shown again")
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

  @Test("A removed day returns if it has a new encounter, and other days are added")
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

  @Test("Days and their removal marks expire after fourteen days; removing everything clears both")
  func fourteenDays() async throws {
    let (phone, app) = try await exposed()
    try await phone.pass(12.5 * TestApp.day, in: app)
    #expect(await app.riskLevel == .high)
    try await app.removeExposures()
    #expect(await app.store.state.removedDays?.count == 1)
    phone.clock.advance(by: 1)
    try await app.removeOldData()
    #expect(await app.store.state.removedDays?.isEmpty == true)
    try await app.removeEverything()
    #expect(phone.temporary.files().isEmpty)
  }
}
