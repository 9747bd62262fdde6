import ExposureKeys
import Foundation

/// What is counted of one upload, and nothing of whose it was.
struct UploadFacts: Hashable, Sendable {
  let issuer: String
  let platform: StatisticPlatform
  /// Unix seconds of the hour it came in.
  let hour: Int64
  /// Days since the oldest key's day; nil without keys.
  let oldestKeyDays: Int?
  /// Days since the onset of symptoms; nil where nobody said.
  let onsetDays: Int?

  init(
    issuer: String, platform: StatisticPlatform, onset: SymptomOnset, keys: [PublishableKey],
    at now: Date
  ) {
    self.issuer = issuer
    self.platform = platform
    hour = StatisticTally.hour(of: now)
    let today = IntervalNumber(now)?.startOfDay
    func days(since day: IntervalNumber) -> Int? {
      today.map { (Int($0.rawValue) - Int(day.rawValue)) / Int(IntervalNumber.perDay) }
    }
    oldestKeyDays = keys.map(\.key.key.rollingStart.startOfDay).min().flatMap(days)
    onsetDays = onset.isMissing ? nil : onset.day.flatMap(days)
  }
}
