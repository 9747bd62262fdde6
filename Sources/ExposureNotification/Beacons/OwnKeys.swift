import ExposureKeys
import Foundation
import Secrets

/// The device's own Temporary Exposure Keys: one per day, more if one was released early.
struct OwnKeys: Equatable, Sendable {
  /// Oldest first; no two cover the same interval.
  private(set) var keys: [TemporaryExposureKey] = []

  init(_ keys: [TemporaryExposureKey] = []) {
    self.keys = keys.sorted { $0.rollingStart < $1.rollingStart }
  }

  func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    keys.last { $0.covers(interval) }
  }

  /// Adds a key of `bytes` for the part of the day around `interval` that no other key covers.
  mutating func add(_ bytes: [UInt8], at interval: IntervalNumber) {
    guard key(at: interval) == nil, let midnight = interval.startOfDay.advanced(by: .day) else {
      return
    }
    let start = keys.map(\.rollingEnd).filter { $0 <= interval }.max() ?? interval.startOfDay
    let end = keys.map(\.rollingStart).filter { $0 > interval }.min() ?? midnight
    let first = max(start, interval.startOfDay)
    let period = min(end, midnight).rawValue - first.rawValue
    if let key = TemporaryExposureKey(bytes: bytes, rollingStart: first, rollingPeriod: period) {
      self = OwnKeys(keys + [key])
    }
  }

  /// Returns the keys that are no longer used. With `includingToday` the current key is shortened to end
  /// before `interval` and returned as well; the rest of its period is never sent.
  mutating func release(at interval: IntervalNumber, includingToday: Bool) -> [TemporaryExposureKey]
  {
    if includingToday {
      keys = keys.compactMap { key in
        // A key that starts in this interval cannot be shortened; it stays.
        guard key.covers(interval), let short = key.shortened(toEndBefore: interval) else {
          return key
        }
        return short
      }
    }
    return keys.filter { $0.rollingEnd <= interval }
  }

  /// Removes the keys of days before the retention period. Returns `true` if there were any.
  mutating func prune(at interval: IntervalNumber) -> Bool {
    let kept = IntervalNumber.perDay * DeviceLimit.retentionDays
    let oldest = interval.startOfDay.rawValue.subtractingReportingOverflow(kept)
    guard !oldest.overflow else { return false }
    let count = keys.count
    keys.removeAll { $0.rollingStart.rawValue < oldest.partialValue }
    return keys.count < count
  }
}

extension UInt32 {
  fileprivate static var day: UInt32 { IntervalNumber.perDay }
}

/// `OwnKeys` as stored in the sealed file `keys`.
struct StoredKeys: Codable {
  struct Key: Codable, Redacted {
    let bytes: Data
    let start: UInt32
    let period: UInt32
  }

  let keys: [Key]

  init(_ own: OwnKeys) {
    keys = own.keys.map {
      Key(
        bytes: Data($0.secretBytes), start: $0.rollingStart.rawValue, period: $0.rollingPeriod)
    }
  }

  var ownKeys: OwnKeys {
    OwnKeys(
      keys.compactMap {
        TemporaryExposureKey(
          bytes: $0.bytes, rollingStart: IntervalNumber(rawValue: $0.start),
          rollingPeriod: $0.period)
      })
  }
}
