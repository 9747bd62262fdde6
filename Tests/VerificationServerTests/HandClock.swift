import Foundation
import Synchronization
import World

/// A clock that goes only when a test says so.
final class HandClock: WallClock {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)

  private struct Sleeper {
    var deadline: Date
    var wake: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = HandClock.start
    var sleepers: [Sleeper] = []
  }

  private let state = Mutex(State())

  var now: Date { state.withLock { $0.now } }

  func advance(_ seconds: TimeInterval) {
    let awake = state.withLock { state in
      state.now += seconds
      let awake = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return awake
    }
    for sleeper in awake { sleeper.wake.resume() }
  }

  func sleep(until deadline: Date) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { wake in
        let isOver = state.withLock { state in
          guard deadline > state.now, !Task.isCancelled else { return true }
          state.sleepers.append(Sleeper(deadline: deadline, wake: wake))
          return false
        }
        if isOver { wake.resume() }
      }
    } onCancel: {
      let all = state.withLock { state in
        defer { state.sleepers = [] }
        return state.sleepers
      }
      for sleeper in all { sleeper.wake.resume() }
    }
    try Task.checkCancellation()
  }
}
