// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// A clock that moves only while all tasks sleep on it, from deadline to deadline.
final class SimulatedClock: WallClock {
  private struct Sleeper {
    let id: UUID
    let deadline: Date
    let wake: CheckedContinuation<Void, Error>
  }

  private struct State {
    var now: Date
    var sleepers: [Sleeper] = []
    /// The end, the number of sleepers to wait for, and the task that waits for the end.
    var target: (end: Date, count: Int, done: CheckedContinuation<Void, Never>)?
  }

  private let state: Mutex<State>

  init(_ now: Date) {
    state = Mutex(State(now: now))
  }

  var now: Date { state.withLock { $0.now } }

  /// Moves from deadline to deadline until `end`, each time when `count` tasks sleep.
  func advance(until end: Date, whenAsleep count: Int) async {
    await withCheckedContinuation { done in
      state.withLock { $0.target = (end, count, done) }
      wakeNext()
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
        wakeNext()
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let index = state.sleepers.firstIndex { $0.id == id }
        return index.map { state.sleepers.remove(at: $0) }
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }

  /// Resumes the earliest sleeper if all tasks sleep; ends at the target time.
  private func wakeNext() {
    let act: (() -> Void)? = state.withLock { state in
      guard let target = state.target, state.sleepers.count >= target.count,
        let index = state.sleepers.indices.min(by: {
          state.sleepers[$0].deadline < state.sleepers[$1].deadline
        })
      else { return nil }
      guard state.sleepers[index].deadline <= target.end else {
        state.now = target.end
        state.target = nil
        return { target.done.resume() }
      }
      let sleeper = state.sleepers.remove(at: index)
      state.now = max(state.now, sleeper.deadline)
      return { sleeper.wake.resume() }
    }
    act?()
  }
}
