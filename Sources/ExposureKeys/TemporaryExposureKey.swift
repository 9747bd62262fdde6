import Crypto
import Foundation
import Secrets

/// The secret of one phone for (usually) one day, from which all its identifiers of that day follow.
///
/// Cryptography Specification 1.2.1, "Temporary Exposure Key": 16 random bytes, valid from the
/// interval `rollingStart` for `rollingPeriod` intervals. Published, it is a diagnosis key.
public struct TemporaryExposureKey: Hashable, Sendable {
  /// The size of the key, in bytes.
  public static let byteCount = SixteenBytes.count
  /// How many intervals a key may serve.
  public static let rollingPeriods: ClosedRange<UInt32> = 1...IntervalNumber.perDay

  let key: SixteenBytes
  /// The first interval the key is used in.
  public let rollingStart: IntervalNumber
  /// For how many intervals the key is used, 1...144.
  public let rollingPeriod: UInt32

  /// Nil unless `bytes` are 16, the period lies in `rollingPeriods` and its end fits in 32 bits.
  public init?(
    bytes: some Collection<UInt8>, rollingStart: IntervalNumber,
    rollingPeriod: UInt32 = IntervalNumber.perDay
  ) {
    guard let key = SixteenBytes(bytes) else { return nil }
    self.init(key, rollingStart: rollingStart, rollingPeriod: rollingPeriod)
  }

  /// The same from the 16 bytes held in place.
  package init?(
    _ key: SixteenBytes, rollingStart: IntervalNumber, rollingPeriod: UInt32
  ) {
    guard Self.rollingPeriods.contains(rollingPeriod),
      rollingStart.advanced(by: rollingPeriod) != nil
    else { return nil }
    self.key = key
    self.rollingStart = rollingStart
    self.rollingPeriod = rollingPeriod
  }

  /// The same from the 16 bytes in two words, as memory holds them.
  package init?(
    words: (UInt64, UInt64), rollingStart: IntervalNumber, rollingPeriod: UInt32
  ) {
    self.init(
      SixteenBytes(words: words), rollingStart: rollingStart, rollingPeriod: rollingPeriod)
  }

  /// The 16 bytes, for derivation, sealed storage and an upload the person has agreed to. They tell
  /// where a phone was for a day: they are never logged.
  public var secretBytes: [UInt8] { key.array }

  /// The same in two words, as memory holds them: what the matcher's loops work on.
  package var secretWords: (UInt64, UInt64) { key.words }

  /// The first interval after the key's last.
  public var rollingEnd: IntervalNumber {
    IntervalNumber(rawValue: rollingStart.rawValue + rollingPeriod)
  }

  /// Whether the key serves `interval`.
  public func covers(_ interval: IntervalNumber) -> Bool {
    rollingStart <= interval && interval < rollingEnd
  }

  /// The same key cut to end before `end`, or nil where nothing of it would be left.
  ///
  /// A key released on its own day is cut short, so that its later identifiers stay unknown.
  public func shortened(toEndBefore end: IntervalNumber) -> TemporaryExposureKey? {
    guard end < rollingEnd else { return self }
    guard end > rollingStart else { return nil }
    return TemporaryExposureKey(
      bytes: key.array, rollingStart: rollingStart,
      rollingPeriod: end.rawValue - rollingStart.rawValue)
  }
}

extension TemporaryExposureKey: Redacted {
  /// The key's kind and day; its bytes tell where a person was, so nothing may print them.
  public var description: String { "TemporaryExposureKey(from \(rollingStart.rawValue))" }
}
