// SPDX-License-Identifier: Apache-2.0
import Crypto
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

/// The HMAC that binds an upload token to keys.
///
/// It is HMAC-SHA256 over `base64.start.period[.risk]` of each key, sorted by the base64 text and
/// joined with commas. The phone sends the HMAC when it requests the token and the secret when it
/// uploads the keys.
public enum KeyHMAC {
  /// The size of a new secret, in bytes.
  public static let secretByteCount = 32

  /// The input of the HMAC. A key without a risk level differs from a key with level 0.
  public static func text(over keys: [UploadKey]) -> String {
    String(decoding: text(over: keys.map(UploadedKey.init)) { $0.risk }, as: UTF8.self)
  }

  /// The HMAC of `keys` with `secret`.
  public static func authenticationCode(over keys: [UploadKey], secret: some ContiguousBytes)
    -> Data
  {
    authenticationCode(over: keys.map(UploadedKey.init), secret: secret)
  }

  /// The HMAC of `keys` of either contract with `secret`.
  public static func authenticationCode(over keys: [UploadedKey], secret: some ContiguousBytes)
    -> Data
  {
    Data(
      HMAC<SHA256>.authenticationCode(
        for: text(over: keys) { $0.risk }, using: SymmetricKey(data: secret)))
  }

  /// Returns `true` if `code` is the HMAC of `keys`, compared in constant time.
  public static func isValid(
    _ code: some ContiguousBytes, over keys: [UploadKey], secret: some ContiguousBytes
  ) -> Bool {
    isValid(code, over: keys.map(UploadedKey.init), secret: secret)
  }

  /// Returns `true` if `code` is the HMAC of `keys`, compared in constant time.
  ///
  /// Clients differ in one point: some write absent risk levels as 0, and some omit them if all are 0.
  /// All these inputs mean the same keys, so all are accepted.
  public static func isValid(
    _ code: some ContiguousBytes, over keys: [UploadedKey], secret: some ContiguousBytes
  ) -> Bool {
    let symmetricKey = SymmetricKey(data: secret)
    return acceptedTexts(over: keys).reduce(false) { found, text in
      HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: symmetricKey)
        || found
    }
  }

  private static func acceptedTexts(over keys: [UploadedKey]) -> [[UInt8]] {
    var texts = [text(over: keys) { $0.risk }]
    if keys.contains(where: { $0.risk == nil }) {
      texts.append(text(over: keys) { $0.risk ?? 0 })
    }
    if keys.allSatisfy({ ($0.risk ?? 0) == 0 }), keys.contains(where: { $0.risk != nil }) {
      texts.append(text(over: keys) { _ in nil })
    }
    return texts
  }

  private static func text(over keys: [UploadedKey], risk: (UploadedKey) -> Int?) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(keys.count * bytesOfOneKey)
    // By bytes, so that the order does not depend on a locale.
    for key in keys.sorted(by: isBefore) {
      if !text.isEmpty { text.append(UInt8(ascii: ",")) }
      key.append(to: &text, risk: risk(key))
    }
    return text
  }

  /// A strict order, so that keys with the same text keep their relative order.
  private static func isBefore(_ left: UploadedKey, _ right: UploadedKey) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// The approximate size of one key in the input.
  private static let bytesOfOneKey = 48
}
