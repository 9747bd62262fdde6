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
    guard keyCount.contains(keys.count) else { return .keyCount }
    let starts = Dictionary(grouping: keys, by: \.rollingStartNumber).values
    guard starts.allSatisfy({ $0.count <= keysWithOneStartMax }) else { return .keysWithOneStart }
    if let breach = keys.lazy.compactMap({ breach(of: $0, at: now) }).first { return breach }
    // By bytes: two base64 texts may say the same ones.
    let bytes = Set(keys.map { Data(base64Encoded: $0.key) })
    guard bytes.count == keys.count else { return .repeatedKey }
    return overlap(in: keys) ? .overlap : nil
  }

  /// The first rule one key breaks by itself.
  private static func breach(of key: UploadKey, at now: Date) -> UploadBreach? {
    guard Data(base64Encoded: key.key)?.count == keyByteCount else { return .keyBytes }
    guard rollingPeriod.contains(key.rollingPeriod) else { return .rollingPeriod }
    guard transmissionRisk.contains(key.transmissionRisk ?? 0) else { return .transmissionRisk }
    guard let current = IntervalNumber(now),
      let oldest = IntervalNumber(now.addingTimeInterval(-keyAgeSecondsMax)),
      key.rollingStartNumber <= current.rawValue
    else { return .future }
    let end = UInt64(key.rollingStartNumber) + UInt64(key.rollingPeriod)
    return end < UInt64(oldest.rawValue) ? .age : nil
  }

  /// Whether two keys serve one interval without sharing their start.
  private static func overlap(in keys: [UploadKey]) -> Bool {
    let sorted = keys.sorted { $0.rollingStartNumber < $1.rollingStartNumber }
    var start: UInt32 = 0
    var endOfEarlierStarts: UInt64 = 0
    var endOfAll: UInt64 = 0
    for key in sorted {
      if key.rollingStartNumber != start {
        start = key.rollingStartNumber
        endOfEarlierStarts = endOfAll
      }
      guard UInt64(start) >= endOfEarlierStarts else { return true }
      endOfAll = max(endOfAll, UInt64(start) + UInt64(key.rollingPeriod))
    }
    return false
  }
}
