import ExposureKeys
import Foundation

/// When a key may be published: not while anybody could still send out its identifiers.
///
/// Documentation/SeedContract.md 5.3: phones accept an identifier up to two hours beside its time.
enum Embargo {
  /// Ten-minute intervals from a key's end to its release.
  static let intervals: UInt32 = 12
  /// Moments are kept to the hour, in seconds, so that they tell nothing about one person's upload.
  static let coarseSeconds: TimeInterval = 3_600

  /// The release of `key` when it came in at `receivedAt`.
  static func release(of key: TemporaryExposureKey, receivedAt: Date) -> Date {
    let hours = (receivedAt.timeIntervalSince1970 / coarseSeconds).rounded(.down)
    let harmless = key.rollingEnd.date.addingTimeInterval(
      TimeInterval(intervals) * IntervalNumber.seconds)
    return max(Date(timeIntervalSince1970: hours * coarseSeconds), harmless)
  }
}
