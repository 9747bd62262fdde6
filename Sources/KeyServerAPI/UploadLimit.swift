// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation

/// Limits of an upload, for the app and the key server.
///
/// The app checks them before it redeems a code, the server before it redeems a token.
public enum UploadLimit {
  /// Keys in one upload.
  public static let keyCount = 1...30
  /// Keys with the same start: a phone shortens and replaces a key that it uploads before its end.
  public static let keysWithOneStartMax = 3
  /// Bytes of a key.
  public static let keyByteCount = TemporaryExposureKey.byteCount
  /// Ten-minute intervals for which a key is valid.
  public static let rollingPeriod: ClosedRange<UInt32> = 1...144
  /// Risk levels. An absent level counts as 0.
  public static let transmissionRisk = 0...8
  /// The maximum time since the end of a key, in seconds: 15 days.
  public static let keyAgeSecondsMax: TimeInterval = 15 * 86_400
  /// Regions in one upload.
  public static let regionCount = 1...10
  /// The whole body, in bytes.
  public static let bodyBytesMax = 64 * 1024
  /// The text of an upload token, in bytes.
  public static let tokenBytesMax = 4 * 1024
  /// The secret of the HMAC, in bytes.
  public static let hmacKeyBytes = 16...128
  /// The text of the device verification payload, in bytes.
  public static let deviceVerificationBytesMax = 16 * 1024
  /// The maximum difference between the clocks of phone and server in the device verification, in seconds.
  public static let deviceVerificationAgeSecondsMax: TimeInterval = 10 * 60
}

extension UploadLimit {
  /// The first rule that the keys violate at `now`, or nil.
  public static func violation(of keys: [UploadKey], at now: Date) -> UploadViolation? {
    violation(of: keys.map(UploadedKey.init), at: now)
  }

  /// The first rule that the keys violate at `now`, or nil.
  public static func violation(of keys: [UploadedKey], at now: Date) -> UploadViolation? {
    guard keyCount.contains(keys.count) else { return .keyCount }
    if sharesOneStartTooOften(keys.map(\.start).sorted()) { return .keysWithOneStart }
    let window = KeyWindow(at: now)
    if let violation = keys.lazy.compactMap({ window.violation(of: $0) }).first { return violation }
    return breachTogether(of: keys.compactMap(\.exposureKey))
  }

  /// The first rule that individually valid keys violate together, or nil.
  public static func breachTogether(of keys: [TemporaryExposureKey]) -> UploadViolation? {
    let keys = keys.sorted { $0.rollingStart < $1.rollingStart }
    if sharesOneStartTooOften(keys.map { Int64($0.rollingStart.rawValue) }) {
      return .keysWithOneStart
    }
    // By bytes, because two base64 texts can encode the same key.
    if isOneRepeated(keys.map(\.secretWords)) { return .repeatedKey }
    return overlap(in: keys) ? .overlap : nil
  }

  private static func sharesOneStartTooOften(_ sorted: [Int64]) -> Bool {
    zip(sorted, sorted.dropFirst(keysWithOneStartMax)).contains { $0 == $1 }
  }

  /// Compares all pairs; for at most 30 keys this is faster than a set.
  private static func isOneRepeated(_ keys: [(UInt64, UInt64)]) -> Bool {
    keys.indices.contains { index in keys[..<index].contains { $0 == keys[index] } }
  }

  /// True if two keys with different starts overlap. `keys` must be sorted by start.
  private static func overlap(in keys: [TemporaryExposureKey]) -> Bool {
    var start: IntervalNumber?
    var (endOfEarlierStarts, endOfAll) = (
      IntervalNumber(rawValue: 0), IntervalNumber(rawValue: 0)
    )
    for key in keys {
      if key.rollingStart != start { (start, endOfEarlierStarts) = (key.rollingStart, endOfAll) }
      guard key.rollingStart >= endOfEarlierStarts else { return true }
      endOfAll = max(endOfAll, key.rollingEnd)
    }
    return false
  }
}

/// The check of single keys at one moment.
public struct KeyWindow: Sendable {
  /// The last interval in which a key may start, or nil if the clock is outside the interval range.
  private let current: Int64?
  /// The first interval in which a key may end.
  private let oldest: Int64?

  /// Creates the check for `now`.
  public init(at now: Date) {
    current = IntervalNumber(now).map { Int64($0.rawValue) }
    oldest = IntervalNumber(now.addingTimeInterval(-UploadLimit.keyAgeSecondsMax))
      .map { Int64($0.rawValue) }
  }

  /// The first rule that the key violates, or nil.
  public func violation(of key: UploadedKey) -> UploadViolation? {
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

/// A violated rule of `UploadLimit`.
public enum UploadViolation: String, Error, Sendable, CaseIterable {
  case keyCount, keysWithOneStart, keyBytes, rollingPeriod, transmissionRisk, future, age
  case repeatedKey, overlap
}

extension UploadViolation: CustomStringConvertible {
  /// The rule in one sentence, without data of the keys.
  public var description: String {
    switch self {
    case .keyCount: "An upload must have 1 to 30 keys."
    case .keysWithOneStart: "At most 3 keys may share one rollingStartNumber."
    case .keyBytes: "A key must be base64 of 16 bytes."
    case .rollingPeriod: "A rollingPeriod must be 1 to 144."
    case .transmissionRisk: "A transmissionRisk must be 0 to 8."
    case .future: "A key must not start in the future."
    case .age: "A key must not have ended more than 15 days ago."
    case .repeatedKey: "An upload must not contain a key twice."
    case .overlap: "Keys may overlap only if they have the same rollingStartNumber."
    }
  }
}
