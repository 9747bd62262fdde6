// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
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

/// Sixteen bytes, the size of every key and identifier of the protocol.
///
/// Two words instead of an array, because a phone compares and hashes millions of them a day.
package struct SixteenBytes: Hashable, Sendable {
  /// The number of bytes.
  package static let count = 16

  private let head: UInt64
  private let tail: UInt64

  /// Returns nil unless there are exactly sixteen bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self =
      bytes.withContiguousStorageIfAvailable(Self.init(contiguous:))
      ?? Array(bytes).withUnsafeBufferPointer(Self.init(contiguous:))
  }

  // Neither this nor `array` has the bytes of a key in a local variable, which would remain on the stack.
  private init(contiguous bytes: UnsafeBufferPointer<UInt8>) {
    let bytes = UnsafeRawBufferPointer(bytes)
    head = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    tail = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  var array: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.count) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.storeBytes(of: head.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
      count = Self.count
    }
  }

  /// Creates the bytes from two words in memory order.
  package init(words: (UInt64, UInt64)) {
    head = UInt64(bigEndian: words.0)
    tail = UInt64(bigEndian: words.1)
  }

  /// The bytes as two words in memory order.
  package var words: (UInt64, UInt64) { (head.bigEndian, tail.bigEndian) }
}

extension SixteenBytes: Comparable {
  /// The order of the bytes, in which key files are sorted.
  package static func < (left: SixteenBytes, right: SixteenBytes) -> Bool {
    (left.head, left.tail) < (right.head, right.tail)
  }
}

extension SixteenBytes: Redacted {}
