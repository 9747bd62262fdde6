// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Runs asynchronous work one after the other, in the order of the calls.
///
/// An actor is reentrant: a second change could start while the first one awaits the radio or the disk,
/// and a device that was just turned off could go on sending.
actor AsyncMutex {
  private var last: Task<Void, Never>?
  /// The calls that have not returned.
  private var callCount = 0

  /// True while no work runs or waits.
  var isIdle: Bool { last == nil }

  /// Runs `work` after all earlier work has ended. Cancelling the caller does not cancel `work`.
  func withLock<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    callCount += 1
    defer {
      callCount -= 1
      // A task that has ended would keep its memory, and a simulation has thousands of devices.
      if callCount == 0 { last = nil }
    }
    let previous = last
    let task = Task {
      await previous?.value
      return try await work()
    }
    last = Task { _ = await task.result }
    return try await task.value
  }
}
