// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import QuietHTTP
import Secrets
import World

/// The keys that are derived from the secret of the console's database, one for each purpose.
///
/// A copy of the database alone contains no usable session, link or code generator.
struct ConsoleKeys: Redacted, Sendable {
  private let secret: SymmetricKey

  /// Returns nil if the secret has another length than `byteCount`.
  init?(_ secret: Data, byteCount: Int) {
    guard secret.count == byteCount else { return nil }
    self.secret = SymmetricKey(data: secret)
  }

  /// The purposes of keys. The raw values are inputs of the key derivation.
  enum Purpose: String, CaseIterable {
    /// The check that the database belongs to the secret.
    case database
    /// The hashes of session tokens.
    case session
    /// The tokens that forms of a session carry.
    case form
    /// The hashes of links for a new password.
    case link
    /// The hashes of names whose sign-in failed.
    case name
    /// The challenges of passkeys.
    case challenge
    /// The secrets of code generators.
    case codes
    /// The chain of the audit log.
    case audit
    /// The addresses in budgets of all processes.
    case budgets
  }

  /// The keyed hash of `bytes` for one purpose.
  func code(of bytes: some DataProtocol, for purpose: Purpose) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: bytes, using: key(for: purpose)))
  }

  /// The keys of budgets that all processes with the same secret share.
  var budgetKeys: BudgetKeys { BudgetKeys(secret: key(for: .budgets)) }

  /// A value in the database that identifies the secret.
  var check: Data { code(of: Data(), for: .database) }

  /// Encrypts `bytes`, which belong to `owner`, with a random nonce.
  ///
  /// - Throws: If the cipher fails (a programming error).
  func seal(_ bytes: Data, of owner: String, randomness: any Randomness) throws -> Data {
    let nonce = try AES.GCM.Nonce(data: randomness.bytes(Self.nonceBytes))
    let box = try AES.GCM.seal(
      bytes, using: key(for: .codes), nonce: nonce, authenticating: Data(owner.utf8))
    return Data(nonce) + box.ciphertext + box.tag
  }

  /// Decrypts what `seal` made for the same owner.
  ///
  /// - Throws: `CryptoKitError` if the bytes were changed or belong to another owner.
  func open(_ sealed: Data, of owner: String) throws -> Data {
    try AES.GCM.open(
      AES.GCM.SealedBox(combined: sealed), using: key(for: .codes), authenticating: Data(owner.utf8)
    )
  }

  /// The size of a nonce, in bytes.
  private static let nonceBytes = 12

  private func key(for purpose: Purpose) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret, info: Data("Firebreak console 1: \(purpose.rawValue)".utf8),
      outputByteCount: 32)
  }
}
