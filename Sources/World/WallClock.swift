// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time of day.
///
/// Code never reads the system's clock directly: it gets a clock, so that a simulation can run two
/// weeks in a second and a test can start at midnight. See Documentation/Decisions/0002.
public protocol WallClock: Sendable {
  /// The current time.
  var now: Date { get }

  /// The current time and the uptime at the same moment.
  var reading: ClockReading { get }

  /// Suspends until `deadline`; returns at once if it has passed.
  ///
  /// - Throws: `CancellationError` if the task is cancelled while it waits.
  func sleep(until deadline: Date) async throws

  /// Suspends for this many seconds, also if the clock is set meanwhile. For timeouts and periods.
  ///
  /// - Throws: `CancellationError` if the task is cancelled while it waits.
  func sleep(for seconds: TimeInterval) async throws
}

/// A time, and the seconds since an arbitrary moment at the same time.
public struct ClockReading: Hashable, Sendable {
  public let time: Date
  /// Advances while the machine sleeps, and not when the clock is set.
  public let uptime: TimeInterval

  public init(time: Date, uptime: TimeInterval) {
    self.time = time
    self.uptime = uptime
  }
}

extension WallClock {
  /// The time, also as the uptime; for clocks that are never set, such as simulated ones.
  public var reading: ClockReading {
    let now = now
    return ClockReading(time: now, uptime: now.timeIntervalSinceReferenceDate)
  }

  /// Suspends until the clock shows a time that is `seconds` later.
  public func sleep(for seconds: TimeInterval) async throws {
    try await sleep(until: now.addingTimeInterval(seconds))
  }
}

extension WallClock {
  /// Suspends for this many seconds, like `sleep(for:)`.
  ///
  /// - Returns: False if the task was cancelled while it waited.
  @discardableResult
  package func sleepUnlessCancelled(for seconds: TimeInterval) async -> Bool {
    // Cancellation is the only error of a clock.
    (try? await sleep(for: seconds)) != nil
  }

  /// Suspends until `deadline`, like `sleep(until:)`.
  ///
  /// - Returns: False if the task was cancelled while it waited.
  @discardableResult
  package func sleepUnlessCancelled(until deadline: Date) async -> Bool {
    // Cancellation is the only error of a clock.
    (try? await sleep(until: deadline)) != nil
  }
}
