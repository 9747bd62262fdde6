// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// Calls of keys that may block, such as those on a token: outside the threads of the concurrency pool, and with a
/// limit of time.
///
/// A call cannot be interrupted, so its thread goes on when the time is up. Until it has ended, other calls fail at
/// once: a token that hangs costs a few threads, and no other work of the server waits for it.
final class SignerCalls: Sendable {
  private let clock: any WallClock
  /// The number of calls that were abandoned and have not ended.
  private let abandoned = Mutex(0)

  init(clock: any WallClock) { self.clock = clock }

  /// Runs `work` and returns its result.
  ///
  /// - Throws: `KeyServerError.cannotSign` if it does not return within `KeyServerLimit.signerSeconds`, or an earlier
  ///   call has not returned yet; `CancellationError` if the task is cancelled.
  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value {
    guard abandoned.withLock({ $0 == 0 }) else { throw Self.noResponse }
    let call = PendingCall<Value>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        call.begin(continuation)
        start(call, work)
        // Cancelled before there was a continuation to resume.
        if Task.isCancelled { abandon(call, CancellationError()) }
      }
    } onCancel: {
      abandon(call, CancellationError())
    }
  }

  private func start<Value: Sendable>(
    _ call: PendingCall<Value>, _ work: @escaping @Sendable () -> Value
  ) {
    let limit = Task {
      guard await clock.sleepUnlessCancelled(for: KeyServerLimit.signerSeconds) else { return }
      abandon(call, Self.noResponse)
    }
    DispatchQueue.global().async { [self] in
      let value = work()
      limit.cancel()
      if !call.end(with: .success(value)) { abandoned.withLock { $0 -= 1 } }
    }
  }

  /// Ends a call before its work has ended.
  private func abandon(_ call: PendingCall<some Sendable>, _ error: any Error) {
    // Counted first, because the work may end at this moment.
    abandoned.withLock { $0 += 1 }
    if !call.end(with: .failure(error)) { abandoned.withLock { $0 -= 1 } }
  }

  private static let noResponse = KeyServerError.cannotSign(
    "The token of a signing key does not respond: check its device, its network and the service of its"
      + " module.")
}

/// A call that ends once, with its result or before it.
private final class PendingCall<Value: Sendable>: Sendable {
  private let continuation = Mutex<CheckedContinuation<Value, any Error>?>(nil)

  func begin(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  /// - Returns: False if the call has not begun or has ended before.
  func end(with result: Result<Value, any Error>) -> Bool {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(with: result)
    return waiting != nil
  }
}
