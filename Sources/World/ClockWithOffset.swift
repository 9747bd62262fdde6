// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A clock that is ahead of another one, or behind it: for developers who meet today and check tomorrow.
package struct ClockWithOffset: WallClock {
  private let clock: any WallClock
  private let seconds: TimeInterval

  /// The offsets that the command line accepts, in seconds: ten years.
  package static let offsets = -315_360_000...315_360_000

  /// A clock that is `seconds` ahead of `clock`.
  package init(_ clock: any WallClock, ahead seconds: Int) {
    self.clock = clock
    self.seconds = TimeInterval(seconds)
  }

  package var now: Date { clock.now.addingTimeInterval(seconds) }

  package var reading: ClockReading {
    let reading = clock.reading
    return ClockReading(time: reading.time.addingTimeInterval(seconds), uptime: reading.uptime)
  }

  package func sleep(until deadline: Date) async throws {
    try await clock.sleep(until: deadline.addingTimeInterval(-seconds))
  }

  /// The same on both clocks.
  package func sleep(for seconds: TimeInterval) async throws {
    try await clock.sleep(for: seconds)
  }
}
