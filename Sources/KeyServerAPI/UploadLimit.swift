import ExposureKeys
import Foundation

/// What the key server is willing to carry, and the app willing to send.
///
/// Documentation/SeedContract.md 4.2. The app asks before it spends a PIN, the server before it
/// spends a token.
public enum UploadLimit {
  /// Keys in one upload.
  public static let keyCount = 1...30
  /// Keys that may share one start: a key is cut and replaced when its owner uploads it early.
  public static let keysWithOneStartMax = 3
  /// Bytes of a key.
  public static let keyByteCount = TemporaryExposureKey.byteCount
  /// Ten-minute intervals a key serves.
  public static let rollingPeriod: ClosedRange<UInt32> = 1...144
  /// Risk levels; absent counts as 0.
  public static let transmissionRisk = 0...8
  /// How long ago a key may have ended, in seconds: 15 days, as a conforming server exports them.
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
  /// How far the phone's clock may be from the server's in the device verification, in seconds.
  public static let deviceVerificationAgeSecondsMax: TimeInterval = 10 * 60
}

extension UploadLimit {
  /// The first rule the keys break at `now`, or nil where they may be uploaded.
  public static func breach(of keys: [UploadKey], at now: Date) -> UploadBreach? {
    breach(of: keys.map(SentKey.init), at: now)
  }

  /// The first rule the keys break at `now`, or nil where they may be uploaded.
  public static func breach(of keys: [SentKey], at now: Date) -> UploadBreach? {
    guard keyCount.contains(keys.count) else { return .keyCount }
    if sharesOneStartTooOften(keys.map(\.start).sorted()) { return .keysWithOneStart }
    let window = KeyWindow(at: now)
    if let breach = keys.lazy.compactMap({ window.breach(of: $0) }).first { return breach }
    return breachTogether(of: keys.compactMap(\.exposureKey))
  }

  /// The first rule that keys break beside each other, each being all right by itself.
  public static func breachTogether(of keys: [TemporaryExposureKey]) -> UploadBreach? {
    let keys = keys.sorted { $0.rollingStart < $1.rollingStart }
    if sharesOneStartTooOften(keys.map { Int64($0.rollingStart.rawValue) }) {
      return .keysWithOneStart
    }
    // By bytes: two base64 texts may say the same ones.
    if isOneRepeated(keys.map(\.secretWords)) { return .repeatedKey }
    return overlap(in: keys) ? .overlap : nil
  }

  private static func sharesOneStartTooOften(_ sorted: [Int64]) -> Bool {
    zip(sorted, sorted.dropFirst(keysWithOneStartMax)).contains { $0 == $1 }
  }

  /// Each beside each: for the keys of one upload that is less work than a set of them.
  private static func isOneRepeated(_ keys: [(UInt64, UInt64)]) -> Bool {
    keys.indices.contains { index in keys[..<index].contains { $0 == keys[index] } }
  }

  /// Whether two keys, which come in the order of their starts, serve one interval without sharing their start.
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
