// SPDX-License-Identifier: Apache-2.0
import Secrets

/// The secret of one phone for (usually) one day, from which all its identifiers of that day derive.
///
/// Cryptography Specification 1.2.1, "Temporary Exposure Key": 16 random bytes, valid from the
/// interval `rollingStart` for `rollingPeriod` intervals. Published, it is a diagnosis key.
public struct TemporaryExposureKey: Hashable, Sendable {
  /// The size of the key, in bytes.
  public static let byteCount = SixteenBytes.count
  /// The number of intervals in which a key may be used.
  public static let rollingPeriods: ClosedRange<UInt32> = 1...IntervalNumber.perDay

  let key: SixteenBytes
  /// The first interval the key is used in.
  public let rollingStart: IntervalNumber
  /// The number of intervals in which the key is used, 1...144.
  public let rollingPeriod: UInt32

  /// Returns nil unless `bytes` are 16, the period is in `rollingPeriods` and its end fits in 32 bits.
  public init?(
    bytes: some Collection<UInt8>, rollingStart: IntervalNumber,
    rollingPeriod: UInt32 = IntervalNumber.perDay
  ) {
    guard let key = SixteenBytes(bytes) else { return nil }
    self.init(key, rollingStart: rollingStart, rollingPeriod: rollingPeriod)
  }

  /// Creates the key from its 16 bytes.
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

  /// Creates the key from its 16 bytes as two words in memory order.
  package init?(
    words: (UInt64, UInt64), rollingStart: IntervalNumber, rollingPeriod: UInt32
  ) {
    self.init(
      SixteenBytes(words: words), rollingStart: rollingStart, rollingPeriod: rollingPeriod)
  }

  /// The 16 bytes, for derivation, sealed storage and an upload with the user's consent. They reveal where
  /// a phone was for a day and must never be logged.
  public var secretBytes: [UInt8] { key.array }

  /// The 16 bytes as two words in memory order, for the matcher's loops.
  package var secretWords: (UInt64, UInt64) { key.words }

  /// The end of the key's period, exclusive.
  public var rollingEnd: IntervalNumber {
    IntervalNumber(rawValue: rollingStart.rawValue + rollingPeriod)
  }

  /// Returns `true` if the key is used in `interval`.
  public func covers(_ interval: IntervalNumber) -> Bool {
    rollingStart <= interval && interval < rollingEnd
  }

  /// The same key with a period that ends before `end`, or nil if the period would be empty.
  ///
  /// A key that is released on its own day is shortened, so that its later identifiers stay unknown.
  public func shortened(toEndBefore end: IntervalNumber) -> TemporaryExposureKey? {
    guard end < rollingEnd else { return self }
    guard end > rollingStart else { return nil }
    return TemporaryExposureKey(
      key, rollingStart: rollingStart, rollingPeriod: end.rawValue - rollingStart.rawValue)
  }
}

extension TemporaryExposureKey: Redacted {
  /// The type and the first interval. The bytes reveal where a user was and must never be printed.
  public var description: String { "TemporaryExposureKey(from \(rollingStart.rawValue))" }
}
