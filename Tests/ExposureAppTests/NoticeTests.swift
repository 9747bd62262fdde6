import ExposureNotification
import Foundation
import Testing

@testable import ExposureApp

/// Documentation/App.md 5.1.
@Suite struct NoticeTests {
  @Test("A rise is told once, with calm words; a later rise is told again")
  func rises() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for (count, score) in [(1, 1_000.0), (2, 1_200), (3, 3_500), (4, 3_500)] {
      phone.script.update { $0.found = [(date: HandClock.noon, seconds: 600, score: score)] }
      phone.publish(0..<count)
      _ = await app.check()
    }
    #expect(phone.notices.risks == [.low, .high])
    phone.clock.move(by: 15 * HandClock.day)
    _ = await app.check()
    let later = phone.clock.now
    phone.script.update { $0.found = [(date: later, seconds: 600, score: 2_000)] }
    phone.publish(4..<5)
    _ = await app.check()
    #expect(phone.notices.risks == [.low, .high, .medium])
    for level in RiskLevel.allCases.dropFirst() {
      let notice = try #require(Notice.risk(level))
      #expect(!(notice.title + notice.body).contains("!"))
      #expect(notice.body.count < 200)
    }
    #expect(Notice.risk(.none) == nil)
  }

  @Test("A notice that was due when the phone went off is shown at the next check")
  func dueLater() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    _ = app
    var memory = NoticeMemory()
    memory.levelIs(.high)
    #expect(memory.dueLevel == .high)
    memory.levelIs(.low)
    #expect(memory.dueLevel == .low)
    memory.levelIs(.none)
    #expect(memory.dueLevel == nil)
    memory.levelIs(.medium)
    memory.shown()
    memory.levelIs(.medium)
    #expect(memory.dueLevel == nil)
    #expect(memory.toldLevel == .medium)
  }

  @Test("D35: that Bluetooth is off is told once a day, and taken back when it is on")
  func bluetooth() async throws {
    let phone = try TestApp()
    phone.script.update { $0.status = .bluetoothOff }
    let app = try await phone.launchedAfterFirstCheck()
    _ = await app.check()
    #expect(phone.notices.shown == [.bluetoothOff])
    phone.clock.move(by: NoticeMemory.bluetoothNoticeSeconds - 1)
    _ = await app.check()
    #expect(phone.notices.shown.count == 1)
    phone.clock.move(by: 1)
    _ = await app.check()
    #expect(phone.notices.shown.count == 2)
    phone.script.update { $0.status = .active }
    _ = await app.check()
    #expect(phone.notices.removed == [.bluetoothOff])
  }
}
