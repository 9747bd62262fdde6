import Foundation
import Simulation
import Testing

@Suite struct SimulatedClockTests {
  private let clock = SimulatedClock(now: Date(timeIntervalSince1970: 1000))

  @Test("Whoever sleeps until a moment that has passed is not held up")
  func pastDeadline() async throws {
    try await clock.sleep(until: Date(timeIntervalSince1970: 1000))
  }

  @Test("A sleeper wakes when the clock reaches its moment, not before")
  func wakes() async throws {
    let deadline = clock.now.addingTimeInterval(60)
    async let woken: Date = {
      try await clock.sleep(until: deadline)
      return clock.now
    }()
    clock.advance(by: 59)
    await Task.yield()
    clock.advance(by: 1)
    #expect(try await woken == deadline)
  }

  @Test("The clock never goes back")
  func neverBack() {
    clock.advance(to: Date(timeIntervalSince1970: 10))
    #expect(clock.now == Date(timeIntervalSince1970: 1000))
  }

  @Test("A cancelled sleeper is let go at once, and says so")
  func cancelled() async {
    let sleeper = Task { try await clock.sleep(until: .distantFuture) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
