// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// A clock that stands still until a test moves it.
///
/// Tasks that sleep on it resume when the test has moved it to their deadline, or when they are cancelled.
public final class ManualClock: WallClock {
  private struct Sleeper {
    let deadline: Date
    /// The end by the uptime, for a sleep that does not depend on the time.
    var uptime: TimeInterval?
    let continuation: CheckedContinuation<Void, Never>

    func isDue(_ now: Date, _ uptime: TimeInterval) -> Bool {
      self.uptime.map { $0 <= uptime } ?? (deadline <= now)
    }
  }

  private struct State {
    var now: Date
    /// Seconds for which the clock was moved forward.
    var uptime: TimeInterval = 0
    var sleepers: [Int: Sleeper] = [:]
    var nextID = 0
  }

  private let state: Mutex<State>

  /// A clock at `now`.
  public init(_ now: Date) {
    state = Mutex(State(now: now))
  }

  public var now: Date { state.withLock { $0.now } }

  public var reading: ClockReading {
    state.withLock { ClockReading(time: $0.now, uptime: $0.uptime) }
  }

  /// The number of tasks that sleep on this clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves the clock forward, or back if `seconds` is negative.
  public func advance(by seconds: TimeInterval) {
    resume { $0 + seconds }
  }

  /// Sets the clock forward or back by this many seconds, without any time passing.
  public func jump(by seconds: TimeInterval) {
    resume(isPassing: false) { $0 + seconds }
  }

  /// Sets the clock.
  public func set(to date: Date) {
    resume { _ in date }
  }

  public func sleep(until deadline: Date) async throws {
    try await sleep(until: deadline, uptime: nil)
  }

  public func sleep(for seconds: TimeInterval) async throws {
    let reading = reading
    try await sleep(
      until: reading.time.addingTimeInterval(seconds), uptime: reading.uptime + seconds)
  }

  /// Sleeps until a time, or until an uptime if there is one.
  private func sleep(until deadline: Date, uptime: TimeInterval?) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let sleeper = Sleeper(deadline: deadline, uptime: uptime, continuation: continuation)
          guard !sleeper.isDue(state.now, state.uptime), !Task.isCancelled else { return true }
          state.sleepers[id] = sleeper
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
    }
    try Task.checkCancellation()
  }

  /// - Parameter isPassing: True if time passes while the clock moves forward.
  private func resume(isPassing: Bool = true, _ move: (Date) -> Date) {
    let due = state.withLock { state in
      let before = state.now
      state.now = move(before)
      if isPassing { state.uptime += max(0, state.now.timeIntervalSince(before)) }
      let due = state.sleepers.filter { $0.value.isDue(state.now, state.uptime) }
      for id in due.keys { state.sleepers.removeValue(forKey: id) }
      return due.values
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}

/// A stopwatch that a test moves. A sleep moves it to its end at once.
package final class ManualStopwatch: Stopwatch {
  private let time = Mutex(Duration.zero)

  package init() {}

  package var elapsed: Duration { time.withLock { $0 } }

  package func advance(by duration: Duration) {
    time.withLock { $0 += duration }
  }

  package func sleep(until moment: Duration) async throws {
    time.withLock { $0 = max($0, moment) }
  }
}
