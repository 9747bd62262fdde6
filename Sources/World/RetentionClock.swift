// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time by which old data is removed. It follows a jump of the device's clock only after the new time
/// has persisted.
///
/// A board without a battery-backed clock starts in 1970, and a network may set a wrong time. If old data
/// were removed by that time, everything would be lost at once, and sightings of a time that lies ahead
/// would stay for years. So a reading far from the last one is trusted only after the clock has advanced
/// from there for a day. Until then, the data of both times is kept.
///
/// So a device whose clock jumps to and fro removes nothing early, if each wrong time is found wrong, or is left,
/// before it has persisted. It removes data at most `ClockLimit.lateSecondsMax` late. While the clock is behind, it
/// also waits until the data has expired by the clock's time.
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
  /// While it is known to be wrong by a day or more, the trusted time advances by the time between the readings, so
  /// that data does not stay forever. The time that a server has stated does not count, because a server's clock can
  /// stand still.
  ///
  /// - Parameters:
  ///   - now: The time of the device's clock.
  ///   - passed: The seconds since the last reading by a clock that is never set; nil if they are not known, as after
  ///     a start. Then the difference of the readings counts, at most a day: the clock may have been set meanwhile.
  ///   - error: The known error of the device's clock.
  package mutating func read(
    _ now: Date, passed: TimeInterval? = nil, with error: ClockError? = nil
  ) {
    guard let error, error.isFarOff else { return read(rightOrNew: now, passed: passed) }
    let longest = ClockLimit.stepSeconds
    guard let trusted else {
      return advance(to: now, passed, for: ClockLimit.oldestDataSeconds, counting: longest)
    }
    let seconds = wrong.map { min(max(0, now.timeIntervalSince($0)), longest) }
    self.trusted = trusted.addingTimeInterval(passed ?? seconds ?? 0)
    // A wrong time does not persist.
    if !isBehind(now) { ahead = nil }
    behind = nil
    wrong = now
  }

  private mutating func read(rightOrNew now: Date, passed: TimeInterval?) {
    wrong = nil
    if let trusted {
      if abs(now.timeIntervalSince(trusted)) <= ClockLimit.stepSeconds { return trust(now) }
      // Data of a clock that jumps to and fro must not stay forever.
      if let passed, ahead != nil || behind != nil {
        self.trusted = trusted.addingTimeInterval(min(passed, ClockLimit.countedGapSeconds))
      }
    }
    advance(to: now, passed, for: ClockLimit.persistenceSeconds)
  }

  /// Continues the jump to `now`, and trusts its time when it has persisted for `seconds`.
  private mutating func advance(
    to now: Date, _ passed: TimeInterval?, for seconds: TimeInterval,
    counting gap: TimeInterval = ClockLimit.countedGapSeconds
  ) {
    let next: Jump
    if isBehind(now) {
      next = Self.jump(behind, to: now, passed, counting: gap)
      behind = next
    } else {
      next = Self.jump(ahead, to: now, passed, counting: gap)
      (ahead, behind) = (next, nil)
    }
    if next.seconds >= seconds { trust(now) }
  }

  /// The periods to keep data of at `now`, the last reading: that before the trusted time, and after a jump or with a
  /// known error also that before the clock's time.
  ///
  /// An error of less than a day adds the period before the time that the server has stated. A larger error does not: a
  /// server whose own clock stands still would state the same time forever.
  package func period(at now: Date, with error: ClockError? = nil) -> RetentionPeriod {
    guard let trusted else { return RetentionPeriod(times: []) }
    if let error, error.isFarOff { return RetentionPeriod(times: [trusted], wrong: now) }
    let others: [Date] =
      if let seconds = error?.secondsAhead { [now, now.addingTimeInterval(-seconds)] } else {
        ahead == nil && behind == nil ? [] : [now]
      }
    return RetentionPeriod(times: [trusted] + others)
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

  /// Advances `jump` to `now`; returns a new jump if there is none or the clock was set meanwhile.
  private static func jump(
    _ jump: Jump?, to now: Date, _ passed: TimeInterval?, counting gap: TimeInterval
  ) -> Jump {
    guard let jump else { return Jump(latest: now, seconds: 0) }
    let seconds = now.timeIntervalSince(jump.latest)
    // Without a second clock, it can have been set forward or have stood still while the device was off.
    let isSet = passed.map { abs(seconds - $0) > ClockLimit.stepSeconds }
    guard !(isSet ?? (seconds < -ClockLimit.stepSeconds)) else {
      return Jump(latest: now, seconds: 0)
    }
    return Jump(latest: now, seconds: jump.seconds + min(max(0, passed ?? seconds), gap))
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
  /// Seconds for which data may stay after its period because the clock has jumped: until a new time is trusted.
  package static let lateSecondsMax = persistenceSeconds
  /// Seconds for which a clock that is known to be wrong must go on until its time is trusted if no other was: as long
  /// as data is kept.
  package static let oldestDataSeconds: TimeInterval = 14 * 86_400
  /// Seconds that count at most between two readings after a jump, because the clock may have jumped again meanwhile.
  package static let countedGapSeconds: TimeInterval = 12 * 3_600
  /// Seconds of progress after which the state is stored again.
  package static let storedAgainSeconds: TimeInterval = 3_600
}
