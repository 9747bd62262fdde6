// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing

@testable import KeyServer

@Suite("A key server whose clock is set")
struct ClockJumpTests {
  private static let day: TimeInterval = 86_400

  private func exports(_ server: RunningKeyServer) async throws {
    await #expect(throws: KeyServerError.self) { try await server.server.exportDue() }
    await #expect(throws: KeyServerError.self) { try await server.server.removeOld() }
  }

  @Test(
    "With the clock 15 days off nothing is deleted or closed, and exports continue afterwards",
    arguments: [15 * day, -15 * day])
  func jump(seconds: TimeInterval) async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let (lines, keys) = (
        try await server.lines(), try server.count("SELECT count(*) FROM diagnosis_key")
      )
      let closed = try server.count("SELECT max(closed_until) FROM period_progress")
      server.clock.jump(by: seconds)
      try await exports(server)
      #expect(try await server.lines() == lines)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == keys)
      #expect(try server.count("SELECT count(*) FROM upload") == 1)
      #expect(try server.count("SELECT max(closed_until) FROM period_progress") == closed)
      server.clock.jump(by: -seconds)
      let late = try await server.uploadKeys()
      try await server.exportPeriod()
      #expect(try await server.lines().count == 2)
      #expect(try await server.published(try await server.lines()[1]).texts.isSuperset(of: late))
    }
  }

  @Test("After a brief clock jump of three days, used tokens stay used")
  func usedToken() async throws {
    try await RunningKeyServer.run { server in
      let token = try await server.authority.token(at: server.clock.now)
      let first = try await server.request(server.keys(2), token: token)
      #expect(try await server.upload(first).status == 200)
      server.clock.jump(by: 3 * Self.day)
      _ = try? await server.server.removeOld()
      server.clock.jump(by: -3 * Self.day)
      let other = try await server.request(server.keys(2), token: token)
      #expect(try await server.upload(other).status != 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == 2)
    }
  }

  @Test("A start with a clock that is days ahead of the newest stored time needs a confirmation")
  func restart() async throws {
    let (authority, folder) = (Authority(), try TemporaryFolder())
    let clock = ManualClock(RunningKeyServer.start)
    try await RunningKeyServer.run(authority: authority, clock: clock, folder: folder) { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
    }
    let ahead = ManualClock(clock.now + 15 * Self.day)
    try await RunningKeyServer.run(authority: authority, clock: ahead, folder: folder) { server in
      try await exports(server)
      #expect(try await server.lines().count == 1)
      try ServerState.confirm(
        ahead.now, in: server.configuration.databaseFile, schema: KeyServer.databaseSchema)
      try await server.server.exportDue()
      try await server.server.removeOld()
      #expect(try await server.lines().isEmpty)
    }
  }

  @Test("A confirmed time is the new reference, and a later jump is refused again")
  func confirmed() async throws {
    try await RunningKeyServer.run { server in
      try await server.exportPeriod()
      server.clock.jump(by: 5 * Self.day)
      try await exports(server)
      try ServerState.confirm(
        server.clock.now, in: server.configuration.databaseFile, schema: KeyServer.databaseSchema)
      try await server.server.exportDue()
      server.clock.jump(by: 5 * Self.day)
      try await exports(server)
    }
  }

  @Test("The error says by how much the clock is wrong, and how to confirm it")
  func message() async throws {
    try await RunningKeyServer.run { server in
      server.clock.jump(by: 2 * Self.day)
      let error = await #expect(throws: KeyServerError.self) {
        try await server.server.exportDue()
      }
      let text = error?.description ?? ""
      #expect(text.contains("172800 seconds after") && text.contains("clock --confirm"), "\(text)")
    }
  }
}

@Suite("The trusted time of a server")
struct TrustedTimeTests {
  private let start = RunningKeyServer.start

  /// A trusted time with the times of a database.
  private func time(_ clock: ManualClock, _ record: ClockRecord) -> TrustedTime {
    TrustedTime(clock, record: { record }, keep: { _ in })
  }

  private func isTrusted(_ time: TrustedTime) async -> Bool { (try? await time.now()) != nil }

  @Test(
    "A drift of up to an hour from the monotonic clock is trusted, a larger one is not",
    arguments: [(3_599.0, true), (3_600, true), (3_601, false)])
  func drift(seconds: TimeInterval, isPlausible: Bool) async throws {
    #expect(TrustedTimeLimit.driftSecondsMax == 3_600)
    for sign in [1.0, -1] {
      let clock = ManualClock(start)
      let time = time(clock, ClockRecord())
      #expect(await isTrusted(time))
      clock.advance(by: 30 * 86_400)
      clock.jump(by: sign * seconds)
      #expect(await isTrusted(time) == isPlausible)
    }
  }

  @Test(
    "A start is trusted up to a day after the newest stored time, and up to an hour before it",
    arguments: [(86_399.0, true), (86_400, true), (86_401, false), (-3_600, true), (-3_601, false)])
  func pause(seconds: TimeInterval, isPlausible: Bool) async throws {
    #expect(TrustedTimeLimit.pauseSecondsMax == 86_400)
    let clock = ManualClock(start + seconds)
    let time = time(clock, ClockRecord(newest: start))
    #expect(await isTrusted(time) == isPlausible)
    guard !isPlausible else { return }
    // The clock is corrected.
    clock.jump(by: -seconds)
    #expect(await isTrusted(time))
  }

  @Test(
    "A confirmation holds for the time that was confirmed",
    arguments: [(0.0, true), (3_600, true), (3_601, false), (86_400, false)])
  func confirmedTime(seconds: TimeInterval, isConfirmed: Bool) async throws {
    let clock = ManualClock(start + 30 * 86_400)
    let record = ClockRecord(newest: start, confirmed: clock.now - seconds)
    #expect(await isTrusted(time(clock, record)) == isConfirmed)
  }

  @Test(
    "The newest time is stored again after ten minutes",
    arguments: [(599.0, false), (600, true), (601, true)])
  func storedAgain(seconds: TimeInterval, isStored: Bool) async throws {
    #expect(TrustedTimeLimit.storedAgainSeconds == 600)
    let (clock, start) = (ManualClock(start + seconds), start)
    await Testing.confirmation("kept", expectedCount: isStored ? 1 : 0) { kept in
      let time = TrustedTime(clock, record: { ClockRecord(newest: start) }, keep: { _ in kept() })
      _ = try? await time.now()
    }
  }
}
