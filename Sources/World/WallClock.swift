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

/// The clock of this machine.
public struct SystemClock: WallClock {
  /// Creates the clock.
  public init() {}

  public var now: Date { Date() }

  public var reading: ClockReading {
    var uptime = timespec()
    clock_gettime(CLOCK_BOOTTIME, &uptime)
    return ClockReading(
      time: Date(),
      uptime: TimeInterval(uptime.tv_sec) + TimeInterval(uptime.tv_nsec) / 1_000_000_000)
  }

  public func sleep(until deadline: Date) async throws {
    // The clock may be set during the sleep, so compare again until the deadline has passed.
    while true {
      let remaining = deadline.timeIntervalSince(now)
      guard remaining > 0 else { return }
      try await Task.sleep(for: .seconds(min(remaining, Self.longestSleepSeconds)))
    }
  }

  public func sleep(for seconds: TimeInterval) async throws {
    guard seconds > 0 else { return }
    try await Task.sleep(for: .seconds(seconds))
  }

  /// The longest delay of a wake-up after the clock was set.
  private static let longestSleepSeconds: TimeInterval = 60
}

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
