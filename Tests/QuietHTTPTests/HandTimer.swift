import Synchronization

/// The machine's seconds, for what is handed them: they pass when a test says so.
final class HandTimer: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  private struct State {
    var passed = Duration.zero
    var sleeps: [Duration] = []
  }

  var now: Instant { start + state.withLock { $0.passed } }

  /// Until when somebody has slept or sleeps, in the order it was asked for.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func pass(to passed: Duration) { state.withLock { $0.passed = passed } }

  func sleep(until end: Instant) async throws {
    state.withLock { $0.sleeps.append(end - start) }
    while now < end { try await Task.sleep(for: .milliseconds(1)) }
  }
}
