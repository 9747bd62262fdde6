import Foundation

/// The time by which old data is removed. It follows a jump of the device's clock only after the new time
/// has persisted.
///
/// A board without a battery-backed clock starts in 1970, and a network may set a wrong time. If old data
/// were removed by that time, everything would be lost at once, and sightings of a time that lies ahead
/// would stay for years. So a reading far from the last one is not trusted until the clock has gone on
/// from there for a day. Until then, the data of both times is kept.
struct RetentionClock: Equatable, Codable, Sendable {
  /// A time far from the trusted one, as far as it has persisted.
  private struct Jump: Equatable, Codable {
    var latest: Date
    var seconds: TimeInterval
  }

  /// The last trusted reading; nil until the first time has persisted.
  private(set) var trusted: Date?
  private var jump: Jump?

  /// Takes a reading of the device's clock.
  mutating func read(_ now: Date) {
    if let trusted, abs(now.timeIntervalSince(trusted)) <= ClockLimit.stepSeconds {
      return trust(now)
    }
    guard var next = jump, goesOn(from: next.latest, to: now) else {
      jump = Jump(latest: now, seconds: 0)
      return
    }
    let seconds = now.timeIntervalSince(next.latest)
    next.seconds += min(max(0, seconds), ClockLimit.countedGapSeconds)
    next.latest = now
    if next.seconds >= ClockLimit.persistenceSeconds { trust(now) } else { jump = next }
  }

  /// The data to keep at `now`, the last reading.
  func period(at now: Date) -> RetentionPeriod {
    guard let trusted else { return RetentionPeriod(times: []) }
    return RetentionPeriod(times: jump == nil ? [trusted] : [trusted, now])
  }

  /// True if the two clocks differ in more than the progress of some time.
  func differs(from other: RetentionClock, byMoreThan seconds: TimeInterval) -> Bool {
    guard let time = jump?.latest ?? trusted, let before = other.jump?.latest ?? other.trusted
    else { return self != other }
    return (jump == nil) != (other.jump == nil) || (trusted == nil) != (other.trusted == nil)
      || abs(time.timeIntervalSince(before)) > seconds
  }

  private mutating func trust(_ now: Date) {
    trusted = now
    jump = nil
  }

  /// False if the clock was set again: back, or to the other side of the trusted time.
  private func goesOn(from latest: Date, to now: Date) -> Bool {
    guard now.timeIntervalSince(latest) >= -ClockLimit.stepSeconds else { return false }
    guard let trusted else { return true }
    return (latest > trusted) == (now > trusted)
  }
}

/// The data that is kept: that of the retention period before each of these times.
struct RetentionPeriod: Equatable, Sendable {
  /// The trusted time, and the clock's if it is another. Empty if no time is trusted yet.
  let times: [Date]

  /// True if there is one time, and data outside its period can be removed for good.
  var isCertain: Bool { times.count == 1 }

  /// Tomorrow counts, because clocks differ. Without a trusted time every day is kept.
  func keeps(_ day: Day) -> Bool {
    times.isEmpty || times.contains { day.isKept(on: Day(of: $0)) }
  }

  /// True if `date` is at most 14 days before one of the times, to the second.
  func keeps(since date: Date) -> Bool {
    let seconds = Double(DeviceLimit.retentionDays) * Day.seconds
    return times.isEmpty || times.contains { $0.timeIntervalSince(date) <= seconds }
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
