// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A clock that moves only through `advance`, so that a simulation of two days takes seconds.
public final class SimulatedClock: WallClock {
  private struct Sleeper {
    let deadline: Date
    let wake: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Date
    var sleepers: [UUID: Sleeper] = [:]
    var cancelledBeforeTheySlept: Set<UUID> = []
  }

  private let state: Mutex<State>

  /// Creates a clock at `now`.
  public init(now: Date) {
    state = Mutex(State(now: now))
  }

  public var now: Date { state.withLock { $0.now } }

  /// Moves the clock forward to `date` and resumes the tasks that sleep until then.
  public func advance(to date: Date) {
    let due = state.withLock { state -> [Sleeper] in
      state.now = max(state.now, date)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.wake.resume() }
  }

  /// Moves the clock forward by `seconds`.
  public func advance(by seconds: TimeInterval) {
    advance(to: now.addingTimeInterval(seconds))
  }

  public func sleep(until deadline: Date) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wake in
        register(Sleeper(deadline: deadline, wake: wake), as: id)
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func register(_ sleeper: Sleeper, as id: UUID) {
    let outcome = state.withLock { state -> Result<Void, any Error>? in
      if state.cancelledBeforeTheySlept.remove(id) != nil { return .failure(CancellationError()) }
      if sleeper.deadline <= state.now { return .success(()) }
      state.sleepers[id] = sleeper
      return nil
    }
    if let outcome { sleeper.wake.resume(with: outcome) }
  }

  private func cancel(_ id: UUID) {
    let sleeper = state.withLock { state -> Sleeper? in
      guard let sleeper = state.sleepers.removeValue(forKey: id) else {
        state.cancelledBeforeTheySlept.insert(id)
        return nil
      }
      return sleeper
    }
    sleeper?.wake.resume(throwing: CancellationError())
  }
}
