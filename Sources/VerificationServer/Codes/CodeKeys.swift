import Crypto
import Foundation
import VerificationAPI

/// What the server derives from its one secret, each use with a key of its own.
///
/// Documentation/Decisions/0005-token-kept-sealed.md.
struct CodeKeys: Sendable {
  private let secret: SymmetricKey

  /// Derives from `codeHashKey`; nil unless it has 32 bytes.
  init?(codeHashKey: [UInt8]) {
    guard codeHashKey.count == VerificationLimit.codeHashKeyBytes else { return nil }
    secret = SymmetricKey(data: codeHashKey)
  }

  /// The name under which `code` is kept.
  func hash(of code: VerificationCode) -> CodeHash {
    CodeHash(bytes: authenticationCode(of: Data(code.characters.utf8), for: "code hash"))
  }

  /// The mark of the one asker who may have the token of `hash` again: it depends on the HMAC over
  /// keys that was sent, also on whether there was one.
  func binding(of keyHMAC: Data?, to hash: CodeHash) -> Data {
    let sent = keyHMAC.map { [1] + $0 } ?? [0]
    return authenticationCode(of: hash.bytes + sent, for: "binding")
  }

  /// The key that seals the token of `code`: one needs both the secret and the code to derive it.
  func tokenKey(for code: VerificationCode) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, salt: Data(code.characters.utf8), info: Self.info("token"),
      outputByteCount: VerificationLimit.codeHashKeyBytes)
  }

  private func authenticationCode(of message: Data, for purpose: String) -> Data {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Self.info(purpose),
      outputByteCount: VerificationLimit.codeHashKeyBytes)
    return Data(HMAC<SHA256>.authenticationCode(for: message, using: key))
  }

  private static func info(_ purpose: String) -> Data {
    Data("Firebreak verification server 1: \(purpose)".utf8)
  }
}

extension CodeKeys: CustomStringConvertible, CustomReflectable {
  var description: String { "CodeKeys" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
