// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Notices") struct NoticeTests {
  @Test("A rise of the risk level is shown once, and a later rise is shown again")
  func rises() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for (count, score) in [(1, 1_000.0), (2, 1_200), (3, 3_500), (4, 3_500)] {
      phone.script.update { $0.found = [(date: TestApp.noon, seconds: 600, score: score)] }
      phone.publish(0..<count)
      _ = await app.check()
    }
    #expect(phone.notices.risks == [.low, .high])
    try await phone.pass(15 * TestApp.day, in: app)
    _ = await app.check()
    let later = phone.clock.now
    phone.script.update { $0.found = [(date: later, seconds: 600, score: 2_000)] }
    phone.publish(94..<95)
    _ = await app.check()
    #expect(phone.notices.risks == [.low, .high, .medium])
    for level in [RiskLevel.low, .medium, .high] {
      let notice = try #require(Notice.risk(level))
      #expect(!(notice.title + notice.body).contains("!"))
      #expect(notice.body.count < 200)
    }
    #expect(Notice.risk(.none) == nil)
    #expect(Notice.risk(.unknown) == nil)
  }

  @Test("A pending notice follows the level until it is shown")
  func dueLater() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    _ = app
    var state = NoticeState()
    state.setLevel(.high)
    #expect(state.dueLevel == .high)
    state.setLevel(.low)
    #expect(state.dueLevel == .low)
    state.setLevel(.none)
    #expect(state.dueLevel == nil)
    state.setLevel(.medium)
    state.markShown()
    state.setLevel(.medium)
    #expect(state.dueLevel == nil)
    #expect(state.toldLevel == .medium)
  }

  @Test("The Bluetooth notice is shown once a day and removed when Bluetooth is on")
  func bluetooth() async throws {
    let phone = try TestApp()
    phone.script.update { $0.status = .bluetoothOff }
    let app = try await phone.launchedAfterFirstCheck()
    _ = await app.check()
    #expect(phone.notices.shown == [.bluetoothOff])
    phone.clock.advance(by: NoticeState.bluetoothNoticeSeconds - 1)
    _ = await app.check()
    #expect(phone.notices.shown.count == 1)
    phone.clock.advance(by: 1)
    _ = await app.check()
    #expect(phone.notices.shown.count == 2)
    phone.script.update { $0.status = .active }
    _ = await app.check()
    #expect(phone.notices.removed == [.bluetoothOff])
  }
}
