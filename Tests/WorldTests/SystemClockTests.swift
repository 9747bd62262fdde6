// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import World

@Suite("System clock")
struct SystemClockTests {
  let clock = SystemClock()

  @Test("The clock returns the machine's time")
  func now() {
    let before = Date()
    let now = clock.now
    #expect(before <= now && now <= Date())
  }

  @Test("A sleep until a passed deadline returns at once")
  func passed() async throws {
    try await clock.sleep(until: clock.now - 3_600)
    try await clock.sleep(until: .distantPast)
  }

  @Test("A sleep does not end before the deadline")
  func deadline() async throws {
    let deadline = clock.now + 0.05
    try await clock.sleep(until: deadline)
    #expect(clock.now >= deadline)
  }

  @Test("A sleep says if it was cancelled")
  func cancellation() async {
    let clock = SystemClock()
    #expect(await clock.sleepUnlessCancelled(for: 0))
    #expect(await clock.sleepUnlessCancelled(until: .distantPast))
    let sleepers = [
      Task { await clock.sleepUnlessCancelled(until: .distantFuture) },
      Task { await clock.sleepUnlessCancelled(for: 86_400) },
    ]
    for sleeper in sleepers {
      sleeper.cancel()
      #expect(await !sleeper.value)
    }
  }

  @Test("A cancelled sleep throws CancellationError at once")
  func cancelled() async {
    let sleeper = Task { try await SystemClock().sleep(until: .distantFuture) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
