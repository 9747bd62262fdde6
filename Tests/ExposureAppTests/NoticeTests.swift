// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing
import World

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
  }

  /// Makes the files from now on contain an encounter today.
  private func meet(_ phone: TestApp, score: Double = 3_500) {
    let now = phone.clock.now
    phone.script.update { $0.found = [(date: now, seconds: 1_800, score: score)] }
  }

  @Test("An encounter on another day is a new notice, also at the same or a lower level")
  func anotherDay() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    meet(phone)
    phone.publish(0..<1)
    _ = await app.check()
    try await app.dismissNotices()
    #expect(phone.notices.removed == [.risk])
    for (day, score) in [(1, 3_500.0), (2, 1_000)] {
      phone.clock.advance(by: TestApp.day)
      meet(phone, score: score)
      phone.publish(0..<(day + 1))
      _ = await app.check()
      // A restart shows nothing again.
      let restarted = try phone.launch()
      await restarted.start()
      _ = await restarted.check()
    }
    #expect(phone.notices.risks == [.high, .high, .low])
  }

  @Test(
    "A risk notice ends when its encounter expires or is removed, also without a complete check")
  func ends() async throws {
    for isExpired in [true, false] {
      let phone = try TestApp()
      let app = try await phone.launchedAfterFirstCheck()
      meet(phone)
      phone.publish(0..<1)
      _ = await app.check()
      phone.network.script("/index.txt", .fails(.unreachable))
      try await phone.pass(13 * TestApp.day, in: app)
      _ = await app.check()
      #expect(!phone.notices.removed.contains(.risk))
      if isExpired {
        try await phone.pass(1.5 * TestApp.day, in: app)
        _ = await app.check()
      } else {
        try await app.removeExposures(ids: Set(await app.exposures.map(\.id)))
        _ = await app.check()
      }
      #expect(phone.notices.removed.filter { $0 == .risk }.count == 1)
      #expect(await !app.currentState.notices.contains(.risk))
      #expect(!phone.notices.shown.map(\.cause).contains(.riskCorrected))
    }
  }

  @Test("A revoked diagnosis ends the notice and explains why, once, until the day expires")
  func revoked() async throws {
    let phone = try TestApp()
    phone.windowRisk = try .example()
    phone.script.update { $0.windows = [.beside(minutes: 20)] }
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.high))
    phone.script.update { $0.windows = [] }
    phone.publish(0..<2)
    #expect(await app.check() == .checked(.none))
    #expect(phone.notices.removed == [.risk])
    #expect(phone.notices.shown.last?.cause == .riskCorrected)
    try await app.dismissNotices()
    phone.publish(0..<3)
    _ = await app.check()
    #expect(phone.notices.shown.filter { $0.cause == .riskCorrected }.count == 1)
  }

  @Test("A level that falls with new rules is no correction, and one that falls later is")
  func newRules() throws {
    let oldest = Date(unixDay: 90)
    var state = NoticeState()
    state.markShown([100: .high, 101: .high])
    state.follow([100: .high, 101: .high], isKnown: true, rules: 1, after: oldest)
    state.follow([100: .low, 101: .high], isKnown: true, rules: 2, after: oldest)
    #expect(state.correctedDay == nil && state.notifiedDays == [100: .low, 101: .high])
    state.follow([100: .low], isKnown: true, rules: 2, after: oldest)
    #expect(state.correctedDay == 101)
  }

  @Test("A notice without a complete check comes back after it was dismissed while it stays true")
  func failingAgain() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    await app.start()
    phone.network.script("/index.txt", .fails(.unreachable))
    _ = await app.check()
    phone.clock.advance(by: 2 * TestApp.day)
    for count in 1...2 {
      _ = await app.check()
      #expect(phone.notices.shown.filter { $0.identifier == .checksFailing }.count == count)
      _ = await app.check()
      #expect(phone.notices.shown.filter { $0.identifier == .checksFailing }.count == count)
      try await app.dismissNotices()
    }
    phone.network.index([])
    _ = await app.check()
    #expect(phone.notices.shown.count == 2)
  }

  @Test("The state of notices follows the days, and that of an earlier version tells nothing again")
  func state() throws {
    var state = NoticeState()
    let oldest = Date(unixDay: 90)
    #expect(state.due([100: .high, 101: .low]) == [100: .high, 101: .low])
    state.markShown([100: .high, 101: .low])
    #expect(state.due([100: .high, 101: .medium, 102: .low]) == [101: .medium, 102: .low])
    #expect(state.isTrue(of: [100: .high]) && !state.isTrue(of: [100: .low]))
    // While results are computed again, a missing day is not withdrawn, and is told again when it returns.
    state.follow([101: .low], isKnown: false, rules: 1, after: oldest)
    #expect(state.correctedDay == nil)
    #expect(state.due([100: .high, 101: .low]) == [100: .high])
    state.follow([101: .low], isKnown: true, rules: 1, after: oldest)
    #expect(state.correctedDay == 100)
    state.follow([101: .low], isKnown: true, rules: 1, after: Date(unixDay: 101))
    #expect(state.correctedDay == nil)
    state.follow([:], isKnown: true, rules: 1, after: Date(unixDay: 102))
    #expect(state.correctedDay == nil)

    let text = #"{"toldLevel":3,"visible":["risk"]}"#
    var old = try JSONDecoder().decode(NoticeState.self, from: Data(text.utf8))
    #expect(old.due([100: .high]).isEmpty && old.isTrue(of: [100: .high]))
    old.follow([100: .high], isKnown: true, rules: 1, after: oldest)
    #expect(old.due([100: .high, 101: .low]) == [101: .low])
    #expect(!old.isTrue(of: [:]))
  }

  @Test("The Bluetooth notice is shown once a day and removed when Bluetooth is on")
  func bluetooth() async throws {
    let phone = try TestApp()
    phone.script.update { $0.status = .bluetoothOff }
    let app = try await phone.launchedAfterFirstCheck()
    _ = await app.check()
    #expect(phone.notices.shown.map(\.cause) == [.bluetoothOff])
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
