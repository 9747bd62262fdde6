// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// Calls of keys that may block, such as those on a token: on a thread of their own, one after another, and each with
/// a limit of time.
///
/// A call cannot be interrupted, so its thread goes on when the time is up. Until it has ended, all other calls fail at
/// once, also those of keys on other tokens: an export needs them all.
final class SignerCalls: Sendable {
  private let clock: any WallClock
  /// A global queue has as many threads as the machine has cores, and tasks share them: hung tokens would stop the
  /// server. A serial queue gets a thread in addition.
  private let queue = DispatchQueue(label: "SignerCalls")
  private let state = Mutex(State())

  private struct State {
    /// The calls that wait or run.
    var calls: [any EndingCall] = []
    /// True from the limit of a call until its work has ended.
    var isStuck = false
  }

  init(clock: any WallClock) { self.clock = clock }

  /// Runs `work` after the earlier calls and returns its result.
  ///
  /// - Throws: `KeyServerError.cannotSign` if it does not return within `KeyServerLimit.signerSeconds` of its
  ///   beginning, or an earlier call does not; `CancellationError` if the task is cancelled.
  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value {
    let call = PendingCall<Value>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        call.begin(continuation)
        enqueue(call, work)
        // Cancelled before there was a continuation to resume.
        if Task.isCancelled { call.fail(with: CancellationError()) }
      }
    } onCancel: {
      call.fail(with: CancellationError())
    }
  }

  private func enqueue<Value: Sendable>(
    _ call: PendingCall<Value>, _ work: @escaping @Sendable () -> Value
  ) {
    let isAccepted = state.withLock { state in
      if !state.isStuck { state.calls.append(call) }
      return !state.isStuck
    }
    guard isAccepted else { return call.fail(with: Self.noResponse) }
    queue.async { [self] in
      guard call.isPending else { return remove(call) }
      let limit = Task { await endAtLimit(call) }
      let value = work()
      limit.cancel()
      remove(call)
      call.end(with: .success(value))
    }
  }

  /// Ends the call at its limit, together with those that wait for it.
  private func endAtLimit(_ call: any EndingCall) async {
    guard await clock.sleepUnlessCancelled(for: KeyServerLimit.signerSeconds) else { return }
    let ended = state.withLock { state -> [any EndingCall] in
      guard state.calls.contains(where: { $0 === call }) else { return [] }
      state.isStuck = true
      return state.calls
    }
    for call in ended { call.fail(with: Self.noResponse) }
  }

  private func remove(_ call: any EndingCall) {
    state.withLock { state in
      state.calls.removeAll { $0 === call }
      state.isStuck = false
    }
  }

  private static let noResponse = KeyServerError.cannotSign(
    "The token of a signing key does not respond: check its device, its network and the service of its"
      + " module. If it stays so, restart the server.")
}

/// A call without the type of its result.
private protocol EndingCall: AnyObject, Sendable {
  func fail(with error: any Error)
}

/// A call that ends once, with its result or before it.
private final class PendingCall<Value: Sendable>: EndingCall {
  private let continuation = Mutex<CheckedContinuation<Value, any Error>?>(nil)

  var isPending: Bool { continuation.withLock { $0 != nil } }

  func begin(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  /// Has no effect if the call has not begun or has ended.
  func end(with result: Result<Value, any Error>) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(with: result)
  }

  func fail(with error: any Error) { end(with: .failure(error)) }
}
