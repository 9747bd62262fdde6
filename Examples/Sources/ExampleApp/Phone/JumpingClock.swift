import Foundation
import Synchronization
import World

/// A clock that stands still while anything is being done, and jumps when everybody sleeps.
final class JumpingClock: WallClock {
  private struct Sleeper {
    let id: UUID
    let deadline: Date
    let wake: CheckedContinuation<Void, Error>
  }

  private struct State {
    var now: Date
    var sleepers: [Sleeper] = []
    /// Until when to jump, how many must sleep before, and who waits for the end.
    var living: (end: Date, count: Int, done: CheckedContinuation<Void, Never>)?
  }

  private let state: Mutex<State>

  init(_ now: Date) {
    state = Mutex(State(now: now))
  }

  var now: Date { state.withLock { $0.now } }

  /// Jumps from deadline to deadline until `end`; each time only when `count` sleep.
  func live(until end: Date, whenAsleep count: Int) async {
    await withCheckedContinuation { done in
      state.withLock { $0.living = (end, count, done) }
      jump()
    }
  }

  func sleep(until deadline: Date) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, Error>) in
        if Task.isCancelled { return wake.resume(throwing: CancellationError()) }
        state.withLock {
          $0.sleepers.append(Sleeper(id: id, deadline: deadline, wake: wake))
        }
        jump()
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let index = state.sleepers.firstIndex { $0.id == id }
        return index.map { state.sleepers.remove(at: $0) }
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }

  /// Wakes the one who is due first, where all sleep; past the end nobody is woken.
  private func jump() {
    let act: (() -> Void)? = state.withLock { state in
      guard let living = state.living, state.sleepers.count >= living.count,
        let index = state.sleepers.indices.min(by: {
          state.sleepers[$0].deadline < state.sleepers[$1].deadline
        })
      else { return nil }
      guard state.sleepers[index].deadline <= living.end else {
        state.now = living.end
        state.living = nil
        return { living.done.resume() }
      }
      let sleeper = state.sleepers.remove(at: index)
      state.now = max(state.now, sleeper.deadline)
      return { sleeper.wake.resume() }
    }
    act?()
  }
}
