import ExposureKeys
import Foundation

/// When symptoms began, as far as somebody says so and it can be true.
struct SymptomOnset: Sendable {
  /// The first interval of that day; nil where nothing is known.
  let day: IntervalNumber?
  /// Whether nobody said it.
  let isMissing: Bool

  /// The onset the token names; left out where it lies ahead or more than 28 days back.
  init(_ interval: UInt32?, at now: Date) {
    day = interval.flatMap { Self.day($0, at: now) }
    isMissing = day == nil
  }

  /// The first of `intervals` that can be true; where none can, `KeyServerLimit.onsetGuessSeconds` ago.
  init(firstOf intervals: [UInt32?], at now: Date) {
    let said = intervals.lazy.compactMap { $0 }.compactMap { Self.day($0, at: now) }.first
    let guess = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetGuessSeconds))
    day = said ?? guess?.startOfDay
    isMissing = said == nil
  }

  private static func day(_ interval: UInt32, at now: Date) -> IntervalNumber? {
    let oldest = IntervalNumber(now.addingTimeInterval(-KeyServerLimit.onsetAgeSecondsMax))
    let onset = IntervalNumber(rawValue: interval)
    guard let oldest, onset >= oldest.startOfDay, onset.date <= now else { return nil }
    return onset.startOfDay
  }

  /// Days from the onset to the key's day, negative before it; nil where nothing is known.
  func days(to key: TemporaryExposureKey) -> Int32? {
    guard let day else { return nil }
    let intervals = Int64(key.rollingStart.startOfDay.rawValue) - Int64(day.rawValue)
    return Int32(intervals / Int64(IntervalNumber.perDay))
  }
}
