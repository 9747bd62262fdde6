// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The clock of simulated time, which never goes back. Its uptime is its time, so that a jump is time that passes.
///
/// It moves through `advance`, so that a simulation of two days takes seconds and equal steps give equal runs.
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

  private let source: (any SimulatedTimeSource)?
  private let state: Mutex<State>

  /// Creates a clock at `now` that moves through `advance`.
  public init(now: Date) {
    source = nil
    state = Mutex(State(now: now))
  }

  /// Creates a clock that follows `source`, which several processes may share. It must not be moved through `advance`.
  package init(following source: any SimulatedTimeSource) {
    self.source = source
    state = Mutex(State(now: source.now))
  }

  public var now: Date {
    state.withLock { state in
      if let source { state.now = max(state.now, source.now) }
      return state.now
    }
  }

  /// Moves the clock forward to `date` and resumes the tasks that sleep until then.
  public func advance(to date: Date) {
    precondition(source == nil, "A clock that follows a source moves with it alone.")
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
    guard let source else { return try await sleepUntilAdvanced(to: deadline) }
    while true {
      try Task.checkCancellation()
      guard now < deadline else { return }
      try await source.pause(until: deadline)
    }
  }

  private func sleepUntilAdvanced(to deadline: Date) async throws {
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

/// The time that a `SimulatedClock` follows if it does not move by steps, such as a file that several processes read.
package protocol SimulatedTimeSource: Sendable {
  /// The time now. If it goes back, the clock stays where it is.
  var now: Date { get }

  /// Suspends a task that sleeps on the clock. It may return before `deadline`, and has to soon after the time has
  /// become faster or has jumped; the clock then compares the time, and calls it again.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  func pause(until deadline: Date) async throws
}
