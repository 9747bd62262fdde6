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
    text(over: keys) { $0.transmissionRisk }
  }

  /// The code for `keys` under `secret`.
  public static func authenticationCode(over keys: [UploadKey], secret: some DataProtocol) -> Data {
    Data(
      HMAC<SHA256>.authenticationCode(
        for: Data(text(over: keys).utf8), using: SymmetricKey(data: Data(secret))))
  }

  /// Whether `code` is the one for `keys`, compared in constant time.
  ///
  /// Writers of the field differ in one point: absent risks may be written as 0, and where all are
  /// 0 they may be left out. Each such text names the same keys, so each is taken.
  public static func isValid(
    _ code: some ContiguousBytes & DataProtocol, over keys: [UploadKey], secret: some DataProtocol
  ) -> Bool {
    let symmetricKey = SymmetricKey(data: Data(secret))
    let code = Data(code)
    return acceptedTexts(over: keys).reduce(false) { found, text in
      HMAC<SHA256>.isValidAuthenticationCode(
        code, authenticating: Data(text.utf8), using: symmetricKey) || found
    }
  }

  private static func acceptedTexts(over keys: [UploadKey]) -> Set<String> {
    var texts: Set = [text(over: keys), text(over: keys) { $0.transmissionRisk ?? 0 }]
    if keys.allSatisfy({ ($0.transmissionRisk ?? 0) == 0 }) {
      texts.insert(text(over: keys) { _ in nil })
    }
    return texts
  }

  private static func text(over keys: [UploadKey], risk: (UploadKey) -> Int?) -> String {
    // By bytes: the order of a base64 text must not depend on anybody's collation.
    keys.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { key in
        let numbers = [key.rollingStartNumber, key.rollingPeriod].map(String.init)
        return ([key.key] + numbers + (risk(key).map { [String($0)] } ?? [])).joined(separator: ".")
      }
      .joined(separator: ",")
  }
}
