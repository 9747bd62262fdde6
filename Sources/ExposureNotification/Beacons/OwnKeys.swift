import ExposureKeys
import Foundation
import Secrets
import World

/// The device's own Temporary Exposure Keys: one per day, more if one was released early.
///
/// A released key is public, so it is never sent again, even if the clock is set back. The keys of any 15
/// successive days fit the limits of an upload: at most three of one day, and at most thirty in total.
struct OwnKeys: Equatable, Sendable {
  /// Oldest first. Two cover the same interval only if they have the same start and one is released.
  private(set) var keys: [OwnKey] = []

  init(_ keys: [OwnKey] = []) {
    self.keys = keys.sorted { $0.key.rollingStart < $1.key.rollingStart }
  }

  /// The key to send in `interval`.
  func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    keys.last { !$0.isReleased && $0.key.covers(interval) }?.key
  }

  /// The days that have keys.
  var days: Set<Day> { Set(keys.map(\.day)) }

  func keys(of day: Day) -> [OwnKey] { keys.filter { $0.day == day } }

  mutating func replace(_ day: Day, with other: [OwnKey]) {
    self = OwnKeys(keys.filter { $0.day != day } + other)
  }

  /// Adds a key of `bytes` for the part of the day around `interval` that no other key covers.
  ///
  /// If a released key covers it, because the clock was set back, the new key gets the same start: a
  /// server accepts keys that overlap only then. Nothing is added beyond the limits of a day.
  mutating func add(_ bytes: [UInt8], at interval: IntervalNumber) {
    guard key(at: interval) == nil, mayAdd(on: Day(of: interval.date)),
      let midnight = interval.startOfDay.advanced(by: IntervalNumber.perDay)
    else { return }
    let released = keys.last { $0.key.covers(interval) }?.key.rollingStart
    let before = keys.map(\.key.rollingEnd).filter { $0 <= interval }.max() ?? interval.startOfDay
    let start = released ?? max(before, interval.startOfDay)
    let next = keys.map(\.key.rollingStart).filter { $0 > interval }.min() ?? midnight
    let period = min(next, midnight).rawValue - start.rawValue
    if let key = TemporaryExposureKey(bytes: bytes, rollingStart: start, rollingPeriod: period) {
      self = OwnKeys(keys + [OwnKey(key: key)])
    }
  }

  /// Returns the keys of the retention period that are no longer used, and marks them as released.
  ///
  /// With `includingToday` the current key is shortened to end before `interval` and returned as well.
  /// It stays in use if there may not be another key for the rest of the day.
  mutating func release(at interval: IntervalNumber, includingToday: Bool) -> [TemporaryExposureKey]
  {
    let today = Day(of: interval.date)
    if includingToday, mayAdd(on: today),
      let current = keys.lastIndex(where: { !$0.isReleased && $0.key.covers(interval) }),
      // A key that starts in this interval cannot be shortened; it stays.
      let short = keys[current].key.shortened(toEndBefore: interval)
    {
      keys[current].key = short
    }
    let released = keys.indices.filter {
      keys[$0].key.rollingEnd <= interval && keys[$0].day.isKept(on: today)
    }
    for index in released { keys[index].isReleased = true }
    return released.map { keys[$0].key }
  }

  /// Removes the keys of days that are not kept.
  mutating func prune(keeping period: RetentionPeriod) {
    keys.removeAll { !period.keeps($0.day) }
  }

  /// Returns `true` for the first key of a day. Further keys are limited to the keys that fit into an upload
  /// beyond one key per day.
  private func mayAdd(on day: Day) -> Bool {
    let count = keys(of: day).count
    guard count > 0 else { return true }
    let reserved = Int(DeviceLimit.retentionDays) + 1
    return count < OwnKeyLimit.perDay && keys.count - days.count < OwnKeyLimit.perRelease - reserved
  }
}

/// A key of the device.
struct OwnKey: Hashable, Sendable, Redacted {
  var key: TemporaryExposureKey
  /// True if an app got the key.
  var isReleased = false

  /// The day in which the key starts; it ends on the same day.
  var day: Day { Day(of: key.rollingStart.date) }
}

/// The time of one of the user's own keys, without its bytes.
package struct KeyPeriod: Hashable, Sendable {
  /// The first ten-minute interval of the key.
  package let start: UInt32
  /// The number of its intervals.
  package let period: UInt32
}

/// The number of own keys, so that every release fits into one upload.
package enum OwnKeyLimit {
  /// Keys of one UTC day. Key servers accept three with the same start.
  package static let perDay = 3
  /// Keys of one release. Key servers accept thirty in an upload.
  package static let perRelease = 30
}
