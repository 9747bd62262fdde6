import ExposureKeys
import Foundation

/// Which keys may be uploaded at one moment, each looked at by itself.
public struct KeyWindow: Sendable {
  /// The last interval a key may start in; nil outside the time that has intervals.
  private let current: Int64?
  /// The first interval a key may end in.
  private let oldest: Int64?

  /// The window at `now`.
  public init(at now: Date) {
    current = IntervalNumber(now).map { Int64($0.rawValue) }
    oldest = IntervalNumber(now.addingTimeInterval(-UploadLimit.keyAgeSecondsMax))
      .map { Int64($0.rawValue) }
  }

  /// The first rule the key breaks; nil where it may be uploaded.
  public func breach(of key: SentKey) -> UploadBreach? {
    guard key.bytes != nil else { return .keyBytes }
    guard let period = UInt32(exactly: key.period), UploadLimit.rollingPeriod.contains(period)
    else {
      return .rollingPeriod
    }
    guard UploadLimit.transmissionRisk.contains(key.risk ?? 0) else { return .transmissionRisk }
    guard let current, let oldest, key.start <= current else { return .future }
    guard key.start >= 0, key.end >= oldest else { return .age }
    return nil
  }
}
