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
  func hash(of code: some WrittenCode) -> CodeHash {
    CodeHash(bytes: authenticationCode(of: Data(code.characters.utf8), for: "code hash"))
  }

  /// The mark of the one asker who may have the token of `hash` again: it depends on the HMAC over
  /// keys that was sent, also on whether there was one.
  func binding(of keyHMAC: Data?, to hash: CodeHash) -> Data {
    let sent = keyHMAC.map { [1] + $0 } ?? [0]
    return authenticationCode(of: hash.bytes + sent, for: "binding")
  }

  /// The mark of the one asker who may have the verification token of `hash` again.
  func verifyBinding(of nonce: Data?, to hash: CodeHash) -> Data {
    let sent = nonce.map { [1] + $0 } ?? [0]
    return authenticationCode(of: hash.bytes + sent, for: "verify binding")
  }

  /// The mark of something that is recognised when it comes again: a nonce, a phone number, the name of
  /// a token, an API key. Each use has a key of its own, so that no two columns can be joined.
  func mark(of secret: Data, as use: MarkUse) -> Data {
    authenticationCode(of: secret, for: use.rawValue)
  }

  /// What marks are made of.
  enum MarkUse: String {
    case nonce, phone
    case tokenID = "token id"
    case certificateID = "certificate id"
    case exchange = "exchange binding"
    case apiKey = "api key"
  }

  /// The key that seals the token of `code`: one needs both the secret and the code to derive it.
  func tokenKey(for code: some WrittenCode) -> SymmetricKey {
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

/// The name under which a code is kept: HMAC-SHA256 of its characters under a key of the server.
///
/// A bare hash of 31 bits could be turned back in a second; without the key this one cannot.
struct CodeHash: Hashable, Sendable {
  let bytes: Data
}

extension CodeHash: CustomStringConvertible, CustomReflectable {
  var description: String { "CodeHash" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A code in one of the forms that people and links carry. No text is a code of two forms.
protocol WrittenCode: Sendable {
  /// The characters, in the one spelling that is hashed.
  var characters: String { get }
}

extension VerificationCode: WrittenCode {}
extension ShortCode: WrittenCode {}
extension LongCode: WrittenCode {}

/// Reads codes of every form.
enum WrittenCodes {
  /// The code in `text`, where there is one: a PIN, a short or a long code. No text is two of them.
  static func code(in text: String) -> (any WrittenCode)? {
    if let pin = VerificationCode(text) { return pin }
    if let short = ShortCode(text) { return short }
    return LongCode(text)
  }
}
