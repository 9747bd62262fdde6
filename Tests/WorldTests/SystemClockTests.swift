import Foundation
import Testing
import World

@Suite("The clock on the wall")
struct SystemClockTests {
  let clock = SystemClock()

  @Test("It tells the machine's time")
  func now() {
    let before = Date()
    let now = clock.now
    #expect(before <= now && now <= Date())
  }

  @Test("A deadline that has passed is not waited for")
  func passed() async throws {
    try await clock.sleep(until: clock.now - 3_600)
    try await clock.sleep(until: .distantPast)
  }

  @Test("Nobody is woken before the deadline")
  func deadline() async throws {
    let deadline = clock.now + 0.05
    try await clock.sleep(until: deadline)
    #expect(clock.now >= deadline)
  }

  @Test("A cancelled sleeper wakes at once with a CancellationError")
  func cancelled() async {
    let sleeper = Task { try await SystemClock().sleep(until: .distantFuture) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
