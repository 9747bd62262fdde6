import ExposureKeys
import Foundation

/// One key as either contract sends it, its base64 read once.
public struct SentKey: Hashable, Sendable {
  /// The base64 as it was sent.
  public let text: String
  /// What it says; nil where that is no key.
  package let bytes: SixteenBytes?
  /// The first interval.
  public let start: Int64
  /// The number of intervals.
  public let period: Int64
  /// The risk level, where there is one.
  public let risk: Int?

  /// A key of the seed contract: standard base64, padded.
  public init(_ key: UploadKey) {
    text = key.key
    bytes = Data(base64Encoded: key.key).flatMap { SixteenBytes($0) }
    start = Int64(key.rollingStartNumber)
    period = Int64(key.rollingPeriod)
    risk = key.transmissionRisk
  }

  /// A key of `/v1/publish`: either alphabet, padded or not.
  public init(_ key: PublishKey) {
    text = key.key
    bytes = Base64Text.sixteenBytes(key.key)
    start = Int64(key.rollingStartNumber)
    period = Int64(key.rollingPeriod)
    risk = key.transmissionRisk
  }

  /// Writes `base64.start.period`, and `.risk` where there is one: the text that names the key in an HMAC.
  package func append(to text: inout [UInt8], risk: Int?) {
    text.append(contentsOf: self.text.utf8)
    Self.append(start, to: &text)
    Self.append(period, to: &text)
    if let risk { Self.append(Int64(risk), to: &text) }
  }

  /// Writes a dot and the number, without a string of its own: an upload has forty-two of them.
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

  /// The key itself, or nil where `UploadLimit` has something against it.
  public var exposureKey: TemporaryExposureKey? {
    guard let bytes, let start = UInt32(exactly: start), let period = UInt32(exactly: period) else {
      return nil
    }
    return TemporaryExposureKey(
      bytes, rollingStart: IntervalNumber(rawValue: start), rollingPeriod: period)
  }
}

extension SentKey: CustomStringConvertible, CustomReflectable {
  /// The key's kind and day only: its bytes tell where a person was.
  public var description: String { "SentKey(from \(start))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
