// SPDX-License-Identifier: Apache-2.0
/// A monotonic clock, which is not affected if the system clock is set.
package protocol Stopwatch: Sendable {
  /// The time since an arbitrary start.
  var elapsed: Duration { get }

  /// Suspends until `elapsed` reaches `moment`; returns at once if it has.
  ///
  /// - Throws: `CancellationError`.
  func sleep(until moment: Duration) async throws
}

/// The monotonic clock of this machine.
package struct SystemStopwatch: Stopwatch {
  private let start = ContinuousClock.now

  package init() {}

  package var elapsed: Duration { ContinuousClock.now - start }

  package func sleep(until moment: Duration) async throws {
    guard moment > elapsed else { return }
    try await Task.sleep(until: start + moment, clock: .continuous)
  }
}
