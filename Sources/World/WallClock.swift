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

/// The time by which old data is removed. It follows a jump of the device's clock only after the new time
/// has persisted.
///
/// A board without a battery-backed clock starts in 1970, and a network may set a wrong time. If old data
/// were removed by that time, everything would be lost at once, and sightings of a time that lies ahead
/// would stay for years. So a reading far from the last one is trusted only after the clock has advanced
/// from there for a day. Until then, the data of both times is kept.
package struct RetentionClock: Equatable, Codable, Sendable {
  /// A time far from the trusted one, and the seconds for which the clock has advanced from there.
  private struct Jump: Equatable, Codable {
    var latest: Date
    var seconds: TimeInterval
  }

  /// The last trusted reading; nil until the first time has persisted.
  package private(set) var trusted: Date?
  /// A time after the trusted one; while none is trusted, the latest of all readings. It stays while the
  /// clock is behind, as on a board without a battery-backed clock that boots in 1970.
  private var ahead: Jump?
  /// A time before that. It must persist without interruption, because a board repeats it at every boot.
  private var behind: Jump?

  /// A clock without a trusted time.
  package init() {}

  /// Takes a reading of the device's clock.
  package mutating func read(_ now: Date) {
    if let trusted, abs(now.timeIntervalSince(trusted)) <= ClockLimit.stepSeconds {
      return trust(now)
    }
    let next: Jump
    if isBehind(now) {
      next = Self.jump(behind, to: now)
      behind = next
    } else {
      next = Self.jump(ahead, to: now)
      (ahead, behind) = (next, nil)
    }
    if next.seconds >= ClockLimit.persistenceSeconds { trust(now) }
  }

  /// The data to keep at `now`, the last reading.
  package func period(at now: Date) -> RetentionPeriod {
    guard let trusted else { return RetentionPeriod(times: []) }
    return RetentionPeriod(times: ahead == nil && behind == nil ? [trusted] : [trusted, now])
  }

  /// True if the states differ, or the last readings differ by more than `seconds`.
  package func differs(from other: RetentionClock, byMoreThan seconds: TimeInterval) -> Bool {
    guard let latest, let before = other.latest else { return self != other }
    return (ahead == nil) != (other.ahead == nil) || (behind == nil) != (other.behind == nil)
      || (trusted == nil) != (other.trusted == nil)
      || abs(latest.timeIntervalSince(before)) > seconds
  }

  /// The last reading.
  private var latest: Date? { behind?.latest ?? ahead?.latest ?? trusted }

  private mutating func trust(_ now: Date) {
    trusted = now
    (ahead, behind) = (nil, nil)
  }

  private func isBehind(_ now: Date) -> Bool {
    if let trusted { return now < trusted }
    guard let ahead else { return false }
    return now.timeIntervalSince(ahead.latest) < -ClockLimit.stepSeconds
  }

  /// Advances `jump` to `now`; returns a new jump if there is none or the clock was set back.
  private static func jump(_ jump: Jump?, to now: Date) -> Jump {
    guard var next = jump, now.timeIntervalSince(next.latest) >= -ClockLimit.stepSeconds else {
      return Jump(latest: now, seconds: 0)
    }
    let seconds = now.timeIntervalSince(next.latest)
    next.seconds += min(max(0, seconds), ClockLimit.countedGapSeconds)
    next.latest = now
    return next
  }
}

/// The union of the retention periods before one or two times; data outside it may be removed.
package struct RetentionPeriod: Equatable, Sendable {
  /// The trusted time, and the time of the clock if it differs. Empty if no time is trusted yet.
  package let times: [Date]

  /// A period before each of `times`.
  package init(times: [Date]) {
    self.times = times
  }

  /// True if there is one time, and data outside its period can be removed for good.
  package var isCertain: Bool { times.count == 1 }

  /// The earlier of the trusted time and the clock's; the distant past if no time is trusted yet.
  package var earliest: Date { times.min() ?? .distantPast }

  /// True if `date` is at most `seconds` before one of the times and at most a day after it. Without a
  /// trusted time every date is kept.
  package func keeps(_ date: Date, forSeconds seconds: TimeInterval) -> Bool {
    times.isEmpty
      || times.contains {
        (-ClockLimit.stepSeconds...seconds).contains($0.timeIntervalSince(date))
      }
  }
}

/// The limits of trust in the device's clock.
package enum ClockLimit {
  /// Largest difference in seconds between two readings that is not a jump: a day.
  package static let stepSeconds: TimeInterval = 86_400
  /// Seconds for which the clock must go on after a jump until its time is trusted: a day.
  package static let persistenceSeconds: TimeInterval = 86_400
  /// Seconds that count at most between two readings, because the clock may have jumped again meanwhile.
  package static let countedGapSeconds: TimeInterval = 12 * 3_600
  /// Seconds of progress after which the state is stored again.
  package static let storedAgainSeconds: TimeInterval = 3_600
}
