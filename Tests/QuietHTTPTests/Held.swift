// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import QuietHTTP

/// Right attempts that run until they are released.
final class Held: Sendable {
  private struct State {
    var running = 0
    var most = 0
    var refused = 0
    var tasks: [Task<Void, any Error>] = []
  }

  private let state = Mutex(State())
  private let all = Gate()
  private let one = Gate()

  var running: Int { state.withLock { $0.running } }
  var most: Int { state.withLock { $0.most } }
  var refusedCount: Int { state.withLock { $0.refused } }

  /// The number of attempts that were not refused, after all have ended.
  var count: Int {
    get async throws {
      let tasks = state.withLock { $0.tasks }
      for task in tasks {
        do { try await task.value } catch is QuietRefusal {}
      }
      return tasks.count - refusedCount
    }
  }

  @discardableResult
  func add(_ budget: FailureBudget, _ client: NumericAddress?) -> Task<Void, any Error> {
    let task = Task {
      do {
        try await budget.attempt(by: client, on: nil) {
          () async throws -> AttemptResult<Void> in
          let number = self.begin()
          try await (number == 1 ? self.one : self.all).wait()
          self.state.withLock { $0.running -= 1 }
          return .succeeded(())
        }
      } catch let refusal as QuietRefusal {
        self.state.withLock { $0.refused += 1 }
        throw refusal
      }
    }
    state.withLock { $0.tasks.append(task) }
    return task
  }

  private func begin() -> Int {
    state.withLock { state in
      state.running += 1
      state.most = max(state.most, state.running)
      return state.running
    }
  }

  /// Ends the attempt that began when no other one ran.
  func releaseOne() { one.open() }

  /// Ends all attempts.
  func release() {
    one.open()
    all.open()
  }
}

/// A value that several tasks change.
final class Recorded<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) {
    state = Mutex(value)
  }

  var value: Value { state.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) {
    state.withLock { body(&$0) }
  }
}
