// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import QuietHTTP

/// The clock is manual; the tests wait in real time only for the polling task.
@Suite("Body timeouts")
struct BodyTimeoutsTests {
  private let timer = ManualTimer()
  private let timeouts: BodyTimeouts

  init() {
    let timer = timer
    timeouts = BodyTimeouts(now: { timer.now }, sleep: { try await timer.sleep(until: $0) })
  }

  /// Waits for a condition. The test fails if it does not become true.
  private func until(_ isSo: () -> Bool) async throws {
    try await Patience.until { isSo() }
    #expect(isSo())
  }

  @Test("A timeout fires at its end and not before, at most one polling interval late")
  func overdue() async throws {
    let ended = Counter()
    _ = timeouts.begin(seconds: 10) { ended.add() }
    try await until { timer.sleeps == [.seconds(1)] }
    // A poll just before the end is followed by one an interval later.
    let before = Duration.seconds(10) - .nanoseconds(1)
    timer.pass(to: before)
    try await until { timer.sleeps.count == 2 }
    #expect(ended.count == 0)
    #expect(timer.sleeps.last == before + BodyTimeouts.pollingInterval)
    timer.pass(to: before + BodyTimeouts.pollingInterval)
    try await until { ended.count == 1 }
  }

  @Test("A timeout fires exactly at its end")
  func onTheSecond() async throws {
    let ended = Counter()
    _ = timeouts.begin(seconds: 10) { ended.add() }
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(10))
    try await until { ended.count == 1 }
  }

  @Test("A canceled timeout does not fire, and another one does")
  func ended() async throws {
    let (taken, overdue) = (Counter(), Counter())
    let number = timeouts.begin(seconds: 10) { taken.add() }
    _ = timeouts.begin(seconds: 10) { overdue.add() }
    timeouts.end(number)
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(20))
    try await until { overdue.count == 1 }
    #expect(taken.count == 0)
  }

  @Test("Polling stops after the last timeout and starts again with the next")
  func again() async throws {
    for round in 1...3 {
      let ended = Counter()
      let slept = timer.sleeps.count
      _ = timeouts.begin(seconds: 1) { ended.add() }
      try await until { timer.sleeps.count == slept + 1 }
      timer.pass(to: .seconds(round * 100))
      try await until { ended.count == 1 }
      // No timeout is left: polling has stopped.
      #expect(timer.sleeps.count == slept + 1)
    }
  }

  @Test("Polling stops if all timeouts are canceled")
  func takenBack() async throws {
    let number = timeouts.begin(seconds: 1_000) {}
    try await until { timer.sleeps.count == 1 }
    timeouts.end(number)
    timer.pass(to: .seconds(1))
    // The next timeouts start exactly one polling task.
    let ended = Counter()
    for _ in 1...10 { _ = timeouts.begin(seconds: 1) { ended.add() } }
    try await until { timer.sleeps.count == 2 }
    timer.pass(to: .seconds(100))
    try await until { ended.count == 10 }
    #expect(timer.sleeps.count == 2)
  }

  @Test("A thousand timeouts share one polling task, and only those that are not canceled fire")
  func many() async throws {
    let (taken, overdue) = (Counter(), Counter())
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          let isTaken = number.isMultiple(of: 2)
          let mine = timeouts.begin(seconds: 10) { isTaken ? taken.add() : overdue.add() }
          if isTaken { timeouts.end(mine) }
        }
      }
    }
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(10))
    try await until { overdue.count == 500 }
    #expect(taken.count == 0)
    #expect(timer.sleeps.count == 1)
  }
}

/// A monotonic clock that a test moves.
final class ManualTimer: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  private struct State {
    var passed = Duration.zero
    var sleeps: [Duration] = []
  }

  var now: Instant { start + state.withLock { $0.passed } }

  /// The ends of all sleeps since the start, in the order of the calls.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func pass(to passed: Duration) { state.withLock { $0.passed = passed } }

  func sleep(until end: Instant) async throws {
    state.withLock { $0.sleeps.append(end - start) }
    while now < end { try await Task.sleep(for: .milliseconds(1)) }
  }
}
