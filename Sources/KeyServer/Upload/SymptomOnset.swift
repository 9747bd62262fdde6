import ExposureKeys
import Foundation

/// When symptoms began, as far as the token says so and it can be true.
struct SymptomOnset {
  private let day: IntervalNumber?

  /// The onset the token names; left out where it lies ahead or more than 28 days back.
  init(_ interval: UInt32?, at now: Date) {
    let oldest = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetAgeSecondsMax))
    guard let interval, let current = IntervalNumber(now), let oldest,
      (oldest.startOfDay.rawValue...current.rawValue).contains(interval)
    else {
      day = nil
      return
    }
    day = IntervalNumber(rawValue: interval).startOfDay
  }

  /// Days from the onset to the key's day, negative before it; nil where nothing is known or it is
  /// farther away than a key file may say.
  func days(to key: TemporaryExposureKey) -> Int32? {
    guard let day else { return nil }
    let intervals = Int64(key.rollingStart.startOfDay.rawValue) - Int64(day.rawValue)
    let days = Int32(intervals / Int64(IntervalNumber.perDay))
    return KeyServerLimit.daysSinceOnset.contains(days) ? days : nil
  }
}
