// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@Suite("A clock that is ahead of another one")
struct ClockWithOffsetTests {
  @Test("A clock with an offset sleeps until its own time")
  func offset() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_000))
    let ahead = ClockWithOffset(clock, ahead: 500)
    #expect(ahead.now.timeIntervalSince1970 == 1_500)
    let sleeping = Task { try await ahead.sleep(until: Date(timeIntervalSince1970: 1_600)) }
    try await Patience.until { clock.sleeperCount == 1 }
    clock.set(to: Date(timeIntervalSince1970: 1_100))
    try await sleeping.value
  }
}
