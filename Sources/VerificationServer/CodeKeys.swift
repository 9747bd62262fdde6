// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import QuietHTTP
import Secrets
import VerificationAPI

/// The keys and hashes derived from the server's secret, one key for each purpose.
///
/// Documentation/Decisions/0005-token-kept-sealed.md explains the derivation.
struct CodeKeys: Sendable, Redacted {
  private let secret: SymmetricKey

  /// Returns nil unless `codeHashKey` has 32 bytes.
  init?(codeHashKey: [UInt8]) {
    guard codeHashKey.count == VerificationLimit.codeHashKeyBytes else { return nil }
    secret = SymmetricKey(data: codeHashKey)
  }

  /// A value stored in the database that shows if it belongs to the secret.
  var check: Data { authenticationCode(of: Data(), for: "database check") }

  /// The keys of budgets that all processes with the same secret share.
  var budgetKeys: BudgetKeys {
    BudgetKeys(secret: SymmetricKey(data: authenticationCode(of: Data(), for: "budgets")))
  }

  /// The hash under which `code` is stored.
  func hash(of code: some EnteredCode) -> CodeHash {
    CodeHash(bytes: authenticationCode(of: Data(code.characters.utf8), for: "code hash"))
  }

  /// The name of `code` in a `FailureBudget`. Texts that may mean each other have the same name, so that a code is not
  /// guessed more often in another spelling.
  func budgetName(of code: any EnteredCode) -> String {
    let reading = code.typedReadings.min { $0.characters < $1.characters } ?? code
    return hash(of: reading).bytes.base64EncodedString()
  }

  /// The value that a retry must reproduce to get the upload token of `hash` again. It depends on the
  /// HMAC that the client sent, and differs if it sent none.
  func binding(of keyHMAC: Data?, to hash: CodeHash) -> Data {
    let sent = keyHMAC.map { [1] + $0 } ?? [0]
    return authenticationCode(of: hash.bytes + sent, for: "binding")
  }

  /// The value that a retry must reproduce to get the verification token of `hash` again.
  func verifyBinding(of nonce: Data?, to hash: CodeHash) -> Data {
    let sent = nonce.map { [1] + $0 } ?? [0]
    return authenticationCode(of: hash.bytes + sent, for: "verify binding")
  }

  /// The keyed hash of a nonce, a phone number, a token ID or an API key. Each purpose has its own key,
  /// so that equal values in two columns of the database cannot be linked.
  func hash(of secret: Data, for purpose: HashPurpose) -> Data {
    authenticationCode(of: secret, for: purpose.rawValue)
  }

  /// The purposes of keyed hashes; the raw values are inputs of the key derivation.
  enum HashPurpose: String {
    case nonce, phone
    case tokenID = "token id"
    case certificateID = "certificate id"
    case exchange = "exchange binding"
    case apiKey = "api key"
    case followUpChain = "follow-up chain"
    case followUpToken = "follow-up token"
  }

  /// The key that encrypts the token of `code`, derived from the secret and the code.
  func tokenKey(for code: some EnteredCode) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, salt: Data(code.characters.utf8), info: Self.info("token"),
      outputByteCount: VerificationLimit.codeHashKeyBytes)
  }

  /// The key that encrypts permits for the following days.
  var permitKey: SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Self.info("follow-up permit"),
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

/// The hash under which a code is stored: HMAC-SHA256 of its characters under a key of the server.
///
/// A code has only 20 bits or more, so an unkeyed hash could be reversed at once.
struct CodeHash: Hashable, Sendable, Redacted {
  let bytes: Data
}

/// A code in one of its three forms; no text is valid in two of them.
protocol EnteredCode: Sendable {
  /// The characters, as they are hashed.
  var characters: String { get }
  /// The codes that may have been meant, that as it was typed first.
  var typedReadings: [any EnteredCode] { get }
}

extension EnteredCode {
  var typedReadings: [any EnteredCode] { [self] }
}

extension VerificationCode: EnteredCode {
  var typedReadings: [any EnteredCode] { readings }
}
extension ShortCode: EnteredCode {}
extension LongCode: EnteredCode {}

/// Parses codes of all three forms.
enum CodeParser {
  /// Returns the PIN or short code in `text`: the codes that users type into an app of the ProteGO Safe contract.
  static func typedCode(in text: String) -> (any EnteredCode)? {
    if let pin = VerificationCode(text) { return pin }
    return ShortCode(text)
  }

  /// Returns the PIN, short code or long code in `text`.
  static func code(in text: String) -> (any EnteredCode)? {
    if let pin = VerificationCode(text) { return pin }
    if let short = ShortCode(text) { return short }
    return LongCode(text)
  }
}
