// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Secrets
import TextEncodings

/// One uploaded key of either contract, with its base64 decoded once.
public struct UploadedKey: Hashable, Sendable {
  /// The base64 as sent.
  public let text: String
  /// The decoded key, or nil if the text is not base64 of 16 bytes.
  package let bytes: SixteenBytes?
  /// The first interval.
  public let start: Int64
  /// The number of intervals.
  public let period: Int64
  /// The risk level, if sent.
  public let risk: Int?

  /// A key of the ProteGO Safe contract: standard base64 with padding.
  public init(_ key: UploadKey) {
    text = key.key
    bytes = Data(base64Encoded: key.key).flatMap { SixteenBytes($0) }
    start = Int64(key.rollingStartNumber)
    period = Int64(key.rollingPeriod)
    risk = key.transmissionRisk
  }

  /// A key of `/v1/publish`: base64 in either alphabet, padded or not.
  public init(_ key: PublishKey) {
    text = key.key
    bytes = Self.sixteenBytes(key.key)
    start = Int64(key.rollingStartNumber)
    period = Int64(key.rollingPeriod)
    risk = key.transmissionRisk
  }

  private static func sixteenBytes(_ text: String) -> SixteenBytes? {
    var words: (UInt64, UInt64) = (0, 0)
    let isRead = withUnsafeMutableBytes(of: &words) { Base64.read(text, into: $0) }
    return isRead ? SixteenBytes(words: words) : nil
  }

  /// Appends `base64.start.period[.risk]`, the key's part of the HMAC input.
  package func append(to text: inout [UInt8], risk: Int?) {
    text.append(contentsOf: self.text.utf8)
    Self.append(start, to: &text)
    Self.append(period, to: &text)
    if let risk { Self.append(Int64(risk), to: &text) }
  }

  /// Appends a dot and the number without allocating a string: an upload has dozens of numbers.
  private static func append(_ number: Int64, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "."))
    if number < 0 { text.append(UInt8(ascii: "-")) }
    var (rest, limit, digits) = (number.magnitude, UInt64(10), 1)
    while digits < 20, rest >= limit { (limit, digits) = (limit &* 10, digits + 1) }
    var place = text.count + digits
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
    while rest > 0 {
      place -= 1
      text[place] += UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// The first interval after the last.
  var end: Int64 { start + period }

  /// The key, or nil if its bytes, start or period are invalid.
  public var exposureKey: TemporaryExposureKey? {
    guard let bytes, let start = UInt32(exactly: start), let period = UInt32(exactly: period) else {
      return nil
    }
    return TemporaryExposureKey(
      bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
  }
}

extension UploadedKey: Redacted {
  public var description: String { "UploadedKey(from \(start))" }
}
