// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation

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
