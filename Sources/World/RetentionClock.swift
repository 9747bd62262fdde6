// SPDX-License-Identifier: Apache-2.0
import Foundation

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

  /// Takes a reading of a clock that is known to be wrong: the corrected time counts. If the difference is not known,
  /// the trusted time does not advance.
  package mutating func read(_ now: Date, with error: ClockError) {
    if let ahead = error.secondsAhead { read(now.addingTimeInterval(-ahead)) }
  }

  /// The data to keep at `now`, the last reading of a clock that is known to be wrong: that of the corrected time, and
  /// of the time of the clock, whose data expires when the clock is right again.
  package func period(at now: Date, with error: ClockError) -> RetentionPeriod {
    let corrected = period(at: now.addingTimeInterval(-(error.secondsAhead ?? 0)))
    return corrected.times.isEmpty ? corrected : RetentionPeriod(times: corrected.times + [now])
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

/// The error of a clock that a comparison with another one has found wrong.
package struct ClockError: Hashable, Sendable {
  /// The seconds by which the clock is ahead; negative if it is behind. nil if the difference is not known.
  package let secondsAhead: TimeInterval?

  /// Creates an error.
  package init(secondsAhead: TimeInterval?) {
    self.secondsAhead = secondsAhead
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
