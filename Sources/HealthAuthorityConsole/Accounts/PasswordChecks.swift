// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import World

/// A bounded pool for the checks of passwords, each of which needs 32 MiB and a tenth of a second of a processor.
///
/// A check takes a place. While all places are taken, callers wait in a queue of limited length and are refused at once
/// if it is full, so that wrong sign-ins cannot take the time of signed-in officials. A cancelled caller leaves the
/// queue. The checks run on a dispatch queue of their own and do not block the threads that serve requests.
final class PasswordChecks: Sendable {
  /// Too many callers wait for a place.
  struct Busy: Error {}

  private let countMax: Int
  private let waitingMax: Int
  private let costLog: Int
  private let unknown: PasswordHash
  private let randomness: any Randomness
  private let queue = DispatchQueue(label: "password-checks", attributes: .concurrent)
  private let state = Mutex(State())

  /// - Parameters:
  ///   - countMax: The number of checks that run at once.
  ///   - waitingMax: The number of callers that wait for a place.
  init(countMax: Int, waitingMax: Int, costLog: Int, randomness: any Randomness) {
    self.countMax = max(1, countMax)
    self.waitingMax = waitingMax
    self.costLog = costLog
    self.randomness = randomness
    unknown = PasswordHash(unmatchableWithCostLog: costLog)
  }

  /// A place in the pool.
  struct Place: Sendable {
    fileprivate let checks: PasswordChecks

    /// True if `password` matches. Without a hash the check takes as long and fails, so that its timing does not reveal
    /// which names exist.
    func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool {
      let unknown = checks.unknown
      let isEqual = try await checks.run { try (hash ?? unknown).matches(password) }
      return isEqual && hash != nil
    }

    /// The hash of a new password.
    func hash(_ password: String) async throws -> PasswordHash {
      let (costLog, randomness) = (checks.costLog, checks.randomness)
      return try await checks.run {
        try PasswordHash(of: password, costLog: costLog, randomness: randomness)
      }
    }
  }

  /// Runs `work` with a place.
  ///
  /// - Parameter isFirst: True for a caller that goes before the others. If the queue is full, the last of the others
  ///   is refused for it.
  /// - Throws: `Busy`, `CancellationError`, or the error of `work`.
  func withPlace<Value: Sendable>(
    isFirst: Bool, _ work: (Place) async throws -> Value
  ) async throws -> Value {
    try await enter(isFirst: isFirst)
    defer { leave() }
    return try await work(Place(checks: self))
  }

  /// The number of callers that wait for a place.
  var waitingCount: Int { state.withLock { $0.first.count + $0.others.count } }

  /// The number of callers that have a place.
  var takenCount: Int { state.withLock { $0.taken } }

  // MARK: - Queue

  private struct Waiter {
    let number: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var taken = 0
    var first: [Waiter] = []
    var others: [Waiter] = []
    var numbers = 0
    /// Callers that were cancelled before they began to wait.
    var cancelled: Set<Int> = []

    mutating func remove(_ number: Int) -> Waiter? {
      if let index = first.firstIndex(where: { $0.number == number }) {
        return first.remove(at: index)
      }
      guard let index = others.firstIndex(where: { $0.number == number }) else { return nil }
      return others.remove(at: index)
    }

    mutating func popFirst() -> Waiter? {
      if !first.isEmpty { return first.removeFirst() }
      return others.isEmpty ? nil : others.removeFirst()
    }
  }

  private func enter(isFirst: Bool) async throws {
    let number = state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
    try await withTaskCancellationHandler {
      defer { state.withLock { _ = $0.cancelled.remove(number) } }
      try await withCheckedThrowingContinuation { continuation in
        wait(Waiter(number: number, continuation: continuation), isFirst: isFirst)
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.remove(number)
        if waiter == nil { state.cancelled.insert(number) }
        return waiter
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  private enum Entry {
    case entered, waits, cancelled, busy
    /// The caller waits in the place of another one, which is refused.
    case replaces(Waiter)
  }

  private func wait(_ waiter: Waiter, isFirst: Bool) {
    switch state.withLock({ entry(of: waiter, isFirst: isFirst, &$0) }) {
    case .entered: waiter.continuation.resume()
    case .waits: break
    case .cancelled: waiter.continuation.resume(throwing: CancellationError())
    case .busy: waiter.continuation.resume(throwing: Busy())
    case .replaces(let last): last.continuation.resume(throwing: Busy())
    }
  }

  private func entry(of waiter: Waiter, isFirst: Bool, _ state: inout State) -> Entry {
    if state.cancelled.contains(waiter.number) { return .cancelled }
    if state.taken < countMax {
      state.taken += 1
      return .entered
    }
    var last: Waiter?
    if state.first.count + state.others.count >= waitingMax {
      guard isFirst, let other = state.others.popLast() else { return .busy }
      last = other
    }
    if isFirst { state.first.append(waiter) } else { state.others.append(waiter) }
    return last.map { .replaces($0) } ?? .waits
  }

  /// Passes the place on, or frees it.
  private func leave() {
    let next = state.withLock { state in
      let next = state.popFirst()
      if next == nil { state.taken -= 1 }
      return next
    }
    next?.continuation.resume()
  }

  private func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}
