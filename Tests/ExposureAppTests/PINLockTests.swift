import Foundation
import Testing

@testable import ExposureApp

/// Documentation/App.md 5.2.
@Suite struct PINLockTests {
  private let now = HandClock.noon

  /// `count` refusals, the last one now, the first `seconds` earlier.
  private func refused(_ count: Int, over seconds: Double) -> [Date] {
    (0..<count).map {
      now.addingTimeInterval(-seconds * Double($0) / Double(max(count - 1, 1)))
    }
  }

  @Test("Each row locks on its count within its time, and neither earlier nor later")
  func rows() {
    for (row, isOnlyRow) in zip(PINLock.table, [true, true, true, true]) {
      let within = refused(row.tries, over: row.withinSeconds)
      let end = now.addingTimeInterval(row.lockSeconds)
      #expect(PINLock.lockedUntil(refused: within, at: now) == end, "\(row.sentence)")
      #expect(PINLock.lockedUntil(refused: within, at: end) == nil)
      let before = end.addingTimeInterval(-1)
      #expect((PINLock.lockedUntil(refused: within, at: before) == end) == isOnlyRow)
      let fewer = refused(row.tries - 1, over: row.withinSeconds)
      #expect(PINLock.lockedUntil(refused: fewer, at: now) != end)
      let slower = refused(row.tries, over: row.withinSeconds + 1)
      #expect(PINLock.lockedUntil(refused: slower, at: now) != end)
    }
  }

  @Test("A clock that was set back by a year locks nobody out for a year")
  func clockSetBack() {
    let year = HandClock.day * 365
    let refusals = refused(30, over: 60)
    #expect(PINLock.lockedUntil(refused: refusals, at: now) != nil)
    #expect(PINLock.lockedUntil(refused: refusals, at: now.addingTimeInterval(-year)) == nil)
  }

  @Test("The app locks after the third wrong PIN, and a right one works when the lock is over")
  func inTheApp() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, .answer(404))
    for _ in 0..<3 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome.reason == .pinRefused)
    }
    let asked = phone.network.requests(for: TestApp.tokenPath).count
    let end = phone.clock.now.addingTimeInterval(60)
    let locked = await app.upload(pin: "A1B2C4", isInteroperabilityEnabled: false)
    #expect(locked == UploadOutcome(result: .canceled, reason: .locked(until: end)))
    let restarted = try phone.launch()
    #expect(
      await restarted.upload(pin: "A1B2C4", isInteroperabilityEnabled: false).reason
        == .locked(until: end))
    #expect(phone.network.requests(for: TestApp.tokenPath).count == asked)
    phone.clock.move(by: 60)
    #expect(
      await app.upload(pin: "A1B2C4", isInteroperabilityEnabled: false).reason == .pinRefused)
  }
}
