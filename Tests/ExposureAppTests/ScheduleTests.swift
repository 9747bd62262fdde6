// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Schedule") struct ScheduleTests {
  /// Waits until all tasks sleep, moves the clock, and waits until they sleep again.
  private func advance(_ phone: TestApp, _ app: ExposureApp, by seconds: TimeInterval) async {
    await settle(phone, app)
    phone.clock.advance(by: seconds)
    await settle(phone, app)
  }

  /// Waits until the schedule sleeps and no check is running.
  private func settle(_ phone: TestApp, _ app: ExposureApp) async {
    await Patience.yielding {
      // A check may start or end between the readings, and a call of the framework sleeps as well.
      guard phone.clock.sleeperCount == 1, await !app.isChecking else { return false }
      return phone.clock.sleeperCount == 1
    }
  }

  @Test(
    "A week with sleep and reboots: checks run about every four hours, once each, and miss no file")
  func week() async throws {
    let phone = try TestApp()
    var app = try await phone.launchedAfterFirstCheck()
    var work = Task { [app] in await app.runSchedule() }
    let start = phone.clock.now
    for hour in 1...(7 * 24) {
      let published = hour / 4 + 2
      phone.publish(0..<published)
      try phone.serve(try phone.document(version: hour))
      if hour % 29 == 0 {
        // A reboot: the process ends and the app starts again from its folder.
        work.cancel()
        await work.value
        app = try phone.launch()
        await app.start()
        work = Task { [app] in await app.runSchedule() }
      }
      if (40..<49).contains(hour % 50) {
        // The phone sleeps: nothing runs, and the clock jumps when it wakes.
        if hour % 50 == 48 { await advance(phone, app, by: 9 * 3_600) }
        continue
      }
      for _ in 0..<60 { await advance(phone, app, by: 60) }
    }
    #expect(phone.clock.now.timeIntervalSince(start) <= 7 * TestApp.day)
    let checks = await app.checks.map(\.date)
    // Sleep delays checks and adds none.
    #expect((30...42).contains(checks.count))
    for (one, next) in zip(checks, checks.dropFirst()) {
      let hours = next.timeIntervalSince(one) / 3_600
      #expect(hours > 3.9 && hours < 13.1)
    }
    let analysed = phone.script.state.detections.flatMap { $0 }
    #expect(Set(analysed).count == analysed.count)
    #expect(analysed.count >= 7 * 6 - 1)
    work.cancel()
    await work.value
  }

  @Test(
    "A clock that is right again is noticed within a minute if it was set, and else within a quarter of an hour",
    arguments: [20.0, -20, 0.125])
  func wrongClock(daysAhead: Double) async throws {
    let ahead = daysAhead * TestApp.day
    let phone = try TestApp()
    let time = ManualClock(phone.clock.now)
    phone.network.states { time.now }
    let app = try await phone.launchedAfterFirstCheck()
    let work = Task { await app.runSchedule() }
    func pass(_ minutes: Int) async {
      for _ in 0..<minutes {
        await settle(phone, app)
        time.advance(by: 60)
        phone.clock.advance(by: 60)
      }
      await settle(phone, app)
    }
    for round in 1...2 {
      await settle(phone, app)
      phone.clock.jump(by: ahead)
      await pass(5 * 60)
      #expect(await app.isClockWrong)
      phone.clock.jump(by: -ahead)
      try phone.serve(try phone.document(version: 2 * round))
      await pass(2)
      #expect(await !app.isClockWrong)
      #expect(await app.lastFailure == nil)
      // The server's clock was wrong, and is set.
      time.advance(by: ahead)
      await pass(5 * 60)
      #expect(await app.isClockWrong)
      time.advance(by: -ahead)
      try phone.serve(try phone.document(version: 2 * round + 1))
      await pass(17)
      #expect(await !app.isClockWrong)
      #expect(await app.lastFailure == nil)
    }
    work.cancel()
    await work.value
  }

  @Test("An overdue check runs once, soon after the program starts")
  func overdue() async throws {
    let phone = try TestApp()
    _ = try await phone.launchedAfterFirstCheck()
    phone.clock.advance(by: 3 * TestApp.day)
    try phone.serve(try phone.document(version: 2))
    let app = try phone.launch()
    let count = phone.network.requests(for: "/index.txt").count
    let work = Task { await app.runSchedule() }
    await settle(phone, app)
    #expect(phone.network.requests(for: "/index.txt").count == count)
    phone.clock.advance(by: Double(BackgroundRule.overdueJitterSeconds.upperBound))
    try await Patience.until { phone.network.requests(for: "/index.txt").count == count + 1 }
    for _ in 0..<60 { await advance(phone, app, by: 60) }
    #expect(phone.network.requests(for: "/index.txt").count == count + 1)
    work.cancel()
    await work.value
  }

  @Test("A check that became due while the phone slept waits for a random time")
  func overdueAfterSleep() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let count = phone.network.requests(for: "/index.txt").count
    let work = Task { await app.runSchedule() }
    await advance(phone, app, by: 9 * 3_600)
    #expect(phone.network.requests(for: "/index.txt").count == count)
    phone.clock.advance(by: Double(BackgroundRule.overdueJitterSeconds.upperBound))
    try await Patience.until { phone.network.requests(for: "/index.txt").count == count + 1 }
    work.cancel()
    await work.value
  }

  @Test("Without its store the schedule waits between the attempts")
  func noStore() async throws {
    let phone = try TestApp()
    phone.sealingKey = nil
    let app = try phone.launch()
    let work = Task { await app.runSchedule() }
    await settle(phone, app)
    let changes = app.makeStateChanges()
    await advance(phone, app, by: BackgroundRule.retrySeconds - 1)
    phone.clock.advance(by: 1)
    for await change in changes {
      #expect(change.reason == .checkStarted)
      break
    }
    work.cancel()
    await work.value
  }

  @Test("A check is due at once after the clock was set back by a year")
  func clockSetBack() throws {
    var schedule = CheckSchedule()
    let now = TestApp.noon
    #expect(schedule.due(at: now) == now)
    schedule.finish(.checked(.none), at: now, pause: nil, randomness: TestRandomness())
    let due = schedule.due(at: now)
    let seconds = due.timeIntervalSince(now) - 4 * 3_600
    #expect((0...Double(BackgroundRule.jitterSeconds.upperBound)).contains(seconds))
    let before = now.addingTimeInterval(-365 * TestApp.day)
    #expect(schedule.due(at: before) == before)
  }

  @Test("After failures the interval grows up to the regular one; a server's pause is respected")
  func retries() throws {
    var schedule = CheckSchedule()
    let now = TestApp.noon
    var last: TimeInterval = 0
    for _ in 0..<10 {
      schedule.finish(.failed(.noConnection), at: now, pause: nil, randomness: TestRandomness())
      let seconds = schedule.due(at: now).timeIntervalSince(now)
      #expect(seconds >= max(last, BackgroundRule.retrySeconds))
      #expect(seconds <= 4 * 3_600 + 120)
      last = seconds
    }
    #expect(last >= 4 * 3_600)
    schedule.finish(.failed(.filesMissing), at: now, pause: nil, randomness: TestRandomness())
    #expect((0...120).contains(schedule.due(at: now).timeIntervalSince(now) - 4 * 3_600))
    schedule.finish(.checked(.none), at: now, pause: nil, randomness: TestRandomness())
    let pause = now.addingTimeInterval(20 * 3_600)
    schedule.finish(.failed(.serverBusy), at: now, pause: pause, randomness: TestRandomness())
    #expect(schedule.due(at: now) >= pause)
    schedule.finish(.failed(.rateLimited), at: now, pause: nil, randomness: TestRandomness())
    #expect(schedule.due(at: now) >= now.addingTimeInterval(4 * 3_600))
  }
}

@Suite("State changes") struct StateChangeTests {
  /// The reasons so far; the sequence is ended by dropping the app's changes.
  private func reasons(
    _ changes: AsyncStream<StateChange>, until isLast: (StateChange) -> Bool
  ) async -> [StateChange] {
    var found: [StateChange] = []
    for await change in changes {
      found.append(change)
      if isLast(change) { break }
    }
    return found
  }

  @Test(
    "A check, an exposure, an upload and a removal are announced with the reason and the new state")
  func told() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let changes = app.makeStateChanges()
    phone.script.update { $0.found = [(date: TestApp.noon, seconds: 900, score: 3_136)] }
    phone.publish(0..<1)
    _ = await app.check()
    let check = await reasons(changes) { $0.reason == .checkFinished(.checked(.high)) }
    #expect(
      check.map(\.reason) == [
        .checkStarted, .exposureFound(.high), .noticeShown(.risk),
        .checkFinished(.checked(.high)),
      ])
    #expect(check.last?.state.riskLevel == .high)
    #expect(check.last?.state.exposureCount == 1)
    #expect(check.last?.state.notices == [.risk])
    #expect(check.last?.state.lastCheck == phone.clock.now)
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .text(#"{"result":{"accessToken":"eyJ.t.s"}}"#))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    _ = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
    let upload = await reasons(changes) { $0.reason == .uploadFinished(.success) }
    #expect(
      upload.map(\.reason) == [
        .uploadProgress(.waitingForConsent), .uploadProgress(.requestingToken),
        .uploadProgress(.sending), .uploadFinished(.success),
      ])
    try await app.removeExposures()
    try await app.disable()
    let rest = await reasons(changes) { $0.reason == .consentChanged }
    #expect(rest.map(\.reason) == [.removal, .consentChanged])
    #expect(rest.last?.state.riskLevel == RiskLevel.none)
  }

  @Test("Each reader gets all changes; a slow one loses the oldest beyond the limit")
  func readers() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let (one, two) = (app.makeStateChanges(), app.makeStateChanges())
    for _ in 0...StateChangeLimit.bufferedMax { try await app.finishOnboarding() }
    for changes in [one, two] {
      var count = 0
      for await _ in changes {
        count += 1
        if count == StateChangeLimit.bufferedMax { break }
      }
      #expect(count == StateChangeLimit.bufferedMax)
    }
  }
}

@Suite("Standing notices") struct StandingNoticeTests {
  @Test("Failing checks are shown once after two days, and removed by a complete check")
  func failing() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.script("/index.txt", .fails(.unreachable))
    _ = await app.check()
    phone.clock.advance(by: 2 * TestApp.day - 1)
    _ = await app.check()
    #expect(phone.notices.shown.isEmpty)
    phone.clock.advance(by: 1)
    _ = await app.check()
    _ = try await phone.launch().check()
    #expect(phone.notices.shown.map(\.identifier) == [.checksFailing])
    #expect(phone.notices.shown.last?.cause == .checksFailing(.noConnection))
    phone.network.index([])
    #expect(try await phone.launch().check() == .checked(.none))
    #expect(phone.notices.removed == [.checksFailing])
  }

  @Test("A phone that was never enabled shows no notice about checks")
  func neverEnabled() async throws {
    let phone = try TestApp()
    phone.script.update { $0.authorization = .unknown }
    let app = try phone.launch()
    await app.start()
    _ = await app.check()
    phone.clock.advance(by: 2 * TestApp.day)
    _ = await app.check()
    #expect(phone.notices.shown.isEmpty)
  }

  @Test("A lost permission is shown once, and removed when it is given again")
  func permission() async throws {
    let phone = try TestApp()
    phone.script.update { $0.authorization = .unknown }
    let app = try phone.launch()
    await app.start()
    _ = await app.check()
    #expect(phone.notices.shown.isEmpty)
    phone.script.update { $0.authorization = .authorized }
    phone.network.index([])
    _ = await app.check()
    phone.script.update { $0.authorization = .notAuthorized }
    _ = await app.check()
    await (try phone.launch()).start()
    #expect(phone.notices.shown.map(\.identifier) == [.permissionLost])
    phone.script.update { $0.authorization = .authorized }
    _ = await app.check()
    #expect(phone.notices.removed == [.permissionLost])
  }

  @Test(
    "Exposure notifications that the user turned off stay off after a restart, without a notice")
  func turnedOff() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    try await app.disable()
    let restarted = try phone.launch()
    await restarted.start()
    #expect(!phone.script.state.isEnabled)
    #expect(await restarted.check() == .failed(.notEnabled))
    phone.clock.advance(by: 3 * TestApp.day)
    _ = await restarted.check()
    #expect(phone.notices.shown.isEmpty)
    #expect(await restarted.enable() == .enabled)
    try phone.serve(try phone.document(version: 2))
    #expect(await restarted.check() == .checked(.none))
  }
}
