// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What moves a `SimulatedClock` that does not move by steps, such as a file that several processes read.
package protocol SimulatedTimeSource: Sendable {
  /// The time now. If it goes back, the clock stays where it is.
  var now: Date { get }

  /// Suspends a task that sleeps on the clock. It may return before `deadline`, and has to soon after the time has
  /// become faster or has jumped; the clock then compares the time, and calls it again.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  func pause(until deadline: Date) async throws
}
