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
  /// The last reading while the clock is known to be wrong by a day or more; nil otherwise.
  private var wrong: Date?

  /// A clock without a trusted time.
  package init() {}

  /// Takes a reading of the device's clock.
  ///
  /// If it is known to be wrong by a day or more, the trusted time advances by what passes between the readings, at
  /// most a day for each: the clock may have been set meanwhile, but data must not stay forever. The time that a server
  /// has stated does not count, because it may stand still.
  package mutating func read(_ now: Date, with error: ClockError? = nil) {
    guard let trusted, let error, error.isFarOff else { return read(rightOrNew: now) }
    if let wrong {
      let seconds = now.timeIntervalSince(wrong)
      self.trusted = trusted.addingTimeInterval(min(max(0, seconds), ClockLimit.stepSeconds))
    }
    wrong = now
  }

  private mutating func read(rightOrNew now: Date) {
    wrong = nil
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

  /// The data to keep at `now`, the last reading: that of the trusted time, and with a known error or after a jump that
  /// of the clock's time. An error below a day adds the right time; a larger one does not, because its time may stand
  /// still.
  package func period(at now: Date, with error: ClockError? = nil) -> RetentionPeriod {
    guard let trusted else { return RetentionPeriod(times: []) }
    let isRight = ahead == nil && behind == nil && error == nil
    guard let error, !error.isFarOff, let seconds = error.secondsAhead else {
      return RetentionPeriod(times: isRight ? [trusted] : [trusted, now])
    }
    return RetentionPeriod(times: [trusted, now, now.addingTimeInterval(-seconds)])
  }

  /// True if the states differ, or the last readings differ by more than `seconds`.
  package func differs(from other: RetentionClock, byMoreThan seconds: TimeInterval) -> Bool {
    guard let latest, let before = other.latest else { return self != other }
    return (ahead == nil) != (other.ahead == nil) || (behind == nil) != (other.behind == nil)
      || (trusted == nil) != (other.trusted == nil)
      || (wrong == nil) != (other.wrong == nil)
      || abs(latest.timeIntervalSince(before)) > seconds
  }

  /// The last reading.
  private var latest: Date? { wrong ?? behind?.latest ?? ahead?.latest ?? trusted }

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

  /// True if the clock is wrong by a day or more, or by an unknown difference.
  fileprivate var isFarOff: Bool {
    secondsAhead.map { abs($0) >= ClockLimit.stepSeconds } ?? true
  }
}

/// The limits of trust in the device's clock.
package enum ClockLimit {
  /// Largest difference in seconds between two readings that is not a jump: a day.
  package static let stepSeconds: TimeInterval = 86_400
  /// Seconds for which the clock must go on after a jump until its time is trusted: a day.
  package static let persistenceSeconds: TimeInterval = 86_400
  /// Seconds that count at most between two readings after a jump, because the clock may have jumped again meanwhile.
  package static let countedGapSeconds: TimeInterval = 12 * 3_600
  /// Seconds of progress after which the state is stored again.
  package static let storedAgainSeconds: TimeInterval = 3_600
}
