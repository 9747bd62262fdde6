// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// Calls of keys that may block, such as those on a token: on a thread of their own, one after another, and each with
/// a limit of time.
///
/// A call cannot be interrupted, so its thread goes on when the time is up. Until it has ended, all other calls fail at
/// once, also those of keys on other tokens: an export needs them all.
package final class SignerCalls: Sendable {
  private let clock: any WallClock
  private let limitSeconds: TimeInterval
  private let failure: @Sendable (_ message: String) -> any Error
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

  /// - Parameters:
  ///   - clock: The clock of the limits.
  ///   - limitSeconds: The time that a call may take from its beginning.
  ///   - failure: Makes the error of a call that has not ended in time from its sentence.
  package init(
    clock: any WallClock, limitSeconds: TimeInterval,
    failure: @escaping @Sendable (_ message: String) -> any Error
  ) {
    self.clock = clock
    self.limitSeconds = limitSeconds
    self.failure = failure
  }

  /// Runs `work` after the earlier calls and returns its result.
  ///
  /// - Parameters:
  ///   - seconds: The time for which the caller waits, for the earlier calls too; nil for no limit but that of each
  ///     call. Work that has not begun by then does not begin.
  ///   - work: The call, which may block its thread.
  /// - Throws: The error of `failure` if the call does not return within `limitSeconds` of its beginning, or an earlier
  ///   call does not, or `seconds` are over, most of them since its beginning; `SignerCallsBusy` if it has waited for
  ///   most of them; `CancellationError` if the task is cancelled.
  package func run<Value: Sendable>(
    within seconds: TimeInterval? = nil, _ work: @escaping @Sendable () -> Value
  ) async throws -> Value {
    let call = PendingCall<Value>()
    let wait = seconds.map { seconds in Task { await end(call, after: seconds) } }
    defer { wait?.cancel() }
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
    guard isAccepted else { return call.fail(with: noResponse) }
    queue.async { [self] in
      guard call.begins(at: clock.now) else { return remove(call) }
      let limit = Task { await endAtLimit(call) }
      let value = work()
      limit.cancel()
      remove(call)
      call.end(with: .success(value))
    }
  }

  /// Ends the call for its caller. The work goes on to its limit.
  private func end(_ call: any EndingCall, after seconds: TimeInterval) async {
    guard await clock.sleepUnlessCancelled(for: seconds) else { return }
    let running = call.begun.map { clock.now.timeIntervalSince($0) } ?? 0
    call.fail(with: running < seconds / 2 ? SignerCallsBusy() : noResponse)
  }

  /// Ends the call at its limit, together with those that wait for it.
  private func endAtLimit(_ call: any EndingCall) async {
    guard await clock.sleepUnlessCancelled(for: limitSeconds) else { return }
    let ended = state.withLock { state -> [any EndingCall] in
      guard state.calls.contains(where: { $0 === call }) else { return [] }
      state.isStuck = true
      return state.calls
    }
    for call in ended { call.fail(with: noResponse) }
  }

  private func remove(_ call: any EndingCall) {
    state.withLock { state in
      state.calls.removeAll { $0 === call }
      state.isStuck = false
    }
  }

  private var noResponse: any Error {
    failure(
      "The token of a signing key does not respond: check its device, its network and the service of its"
        + " module. If it stays so, restart the server.")
  }
}

/// A call did not end in time because of the calls before it. This is no fault of the token.
package struct SignerCallsBusy: Error {
  /// Creates the error.
  package init() {}
}

/// A call without the type of its result.
private protocol EndingCall: AnyObject, Sendable {
  /// The time at which its work began; nil if it has not.
  var begun: Date? { get }
  func fail(with error: any Error)
}

/// A call that ends once, with its result or before it.
private final class PendingCall<Value: Sendable>: EndingCall {
  private let continuation = Mutex<CheckedContinuation<Value, any Error>?>(nil)
  private let beginning = Mutex<Date?>(nil)

  var begun: Date? { beginning.withLock { $0 } }

  /// Returns false, and changes nothing, if the call has ended.
  func begins(at now: Date) -> Bool {
    guard continuation.withLock({ $0 != nil }) else { return false }
    beginning.withLock { $0 = now }
    return true
  }

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
