import Crypto
import Foundation

/// Binds an upload token to the keys it may publish.
///
/// Documentation/SeedContract.md 4.3: HMAC-SHA256 over `base64.start.period[.risk]` of each key,
/// sorted by the base64 text and joined with commas. The phone sends the code when it asks for the
/// token and the secret when it uploads.
public enum KeyHMAC {
  /// Bytes of the authentication code.
  public static let byteCount = SHA256.byteCount
  /// Bytes of a secret made here.
  public static let secretByteCount = 32

  /// The text the code is over. A key without a risk gives another text than one with risk 0.
  public static func text(over keys: [UploadKey]) -> String {
    String(decoding: text(over: keys.map(SentKey.init)) { $0.risk }, as: UTF8.self)
  }

  /// The code for `keys` under `secret`.
  public static func authenticationCode(over keys: [UploadKey], secret: some ContiguousBytes)
    -> Data
  {
    authenticationCode(over: keys.map(SentKey.init), secret: secret)
  }

  /// The code for `keys` of either contract under `secret`.
  public static func authenticationCode(over keys: [SentKey], secret: some ContiguousBytes) -> Data
  {
    Data(
      HMAC<SHA256>.authenticationCode(
        for: text(over: keys) { $0.risk }, using: SymmetricKey(data: secret)))
  }

  /// Whether `code` is the one for `keys`; see the other form.
  public static func isValid(
    _ code: some ContiguousBytes, over keys: [UploadKey], secret: some ContiguousBytes
  ) -> Bool {
    isValid(code, over: keys.map(SentKey.init), secret: secret)
  }

  /// Whether `code` is the one for `keys`, compared in constant time.
  ///
  /// Writers of the field differ in one point: absent risks may be written as 0, and where all are
  /// 0 they may be left out. Each such text names the same keys, so each is taken.
  public static func isValid(
    _ code: some ContiguousBytes, over keys: [SentKey], secret: some ContiguousBytes
  ) -> Bool {
    let symmetricKey = SymmetricKey(data: secret)
    return acceptedTexts(over: keys).reduce(false) { found, text in
      HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: symmetricKey)
        || found
    }
  }

  private static func acceptedTexts(over keys: [SentKey]) -> [[UInt8]] {
    var texts = [text(over: keys) { $0.risk }]
    if keys.contains(where: { $0.risk == nil }) {
      texts.append(text(over: keys) { $0.risk ?? 0 })
    }
    if keys.allSatisfy({ ($0.risk ?? 0) == 0 }), keys.contains(where: { $0.risk != nil }) {
      texts.append(text(over: keys) { _ in nil })
    }
    return texts
  }

  private static func text(over keys: [SentKey], risk: (SentKey) -> Int?) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(keys.count * bytesOfOneKey)
    // By bytes: the order of a base64 text must not depend on anybody's collation.
    for key in keys.sorted(by: isBefore) {
      if !text.isEmpty { text.append(UInt8(ascii: ",")) }
      key.append(to: &text, risk: risk(key))
    }
    return text
  }

  /// A strict order: two keys with one text are in neither, and keep the places they came in.
  private static func isBefore(_ left: SentKey, _ right: SentKey) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  /// About as many bytes as one key takes in the text.
  private static let bytesOfOneKey = 48
}
