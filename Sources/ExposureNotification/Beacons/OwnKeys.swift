import ExposureKeys
import Foundation

/// The phone's own Temporary Exposure Keys: one a day, more where one was released early.
///
/// Reads no clock and draws no random bytes. Documentation/Framework.md 3.
struct OwnKeys: Equatable, Sendable {
  /// Oldest first; no two cover the same interval.
  private(set) var keys: [TemporaryExposureKey] = []

  init(_ keys: [TemporaryExposureKey] = []) {
    self.keys = keys.sorted { $0.rollingStart < $1.rollingStart }
  }

  /// The key that serves `interval`.
  func key(at interval: IntervalNumber) -> TemporaryExposureKey? {
    keys.last { $0.covers(interval) }
  }

  /// Makes `bytes` the key of what is still free of the day around `interval`.
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

  /// The keys that can no longer be used, with the one in use cut short before `interval` where
  /// `includingToday`; what was cut off will never be sent.
  mutating func release(at interval: IntervalNumber, includingToday: Bool) -> [TemporaryExposureKey]
  {
    if includingToday {
      keys = keys.compactMap { key in
        // A key that began in this very interval tells nothing yet; it stays.
        guard key.covers(interval), let short = key.shortened(toEndBefore: interval) else {
          return key
        }
        return short
      }
    }
    return keys.filter { $0.rollingEnd <= interval }
  }

  /// Forgets the keys of days before the retention period; true where there were any.
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
