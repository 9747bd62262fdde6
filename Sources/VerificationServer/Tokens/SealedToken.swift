import Crypto
import Foundation

/// A token that was issued, kept so that a lost answer can be given again.
///
/// AES-256-GCM under a key derived from the server's secret and the code, with the code's hash as
/// associated data. Whoever reads the database alone cannot open it, and whoever also holds the
/// secret must still guess the code. Documentation/Decisions/0005-token-kept-sealed.md.
struct SealedToken: Hashable, Sendable {
  /// Nonce, ciphertext and tag.
  let bytes: Data

  /// What the storage kept.
  init(bytes: Data) {
    self.bytes = bytes
  }

  /// Seals `token`. The nonce comes from `nonce`, twelve fresh random bytes.
  init(_ token: String, for code: some WrittenCode, keys: CodeKeys, nonce: [UInt8]) throws {
    let box = try AES.GCM.seal(
      Data(token.utf8), using: keys.tokenKey(for: code), nonce: AES.GCM.Nonce(data: nonce),
      authenticating: keys.hash(of: code).bytes)
    bytes = Data(box.nonce) + box.ciphertext + box.tag
  }

  /// The token's text.
  ///
  /// - Throws: where the bytes were changed or belong to another code.
  func text(for code: some WrittenCode, keys: CodeKeys) throws -> String {
    let box = try AES.GCM.SealedBox(combined: bytes)
    let text = try AES.GCM.open(
      box, using: keys.tokenKey(for: code), authenticating: keys.hash(of: code).bytes)
    return String(decoding: text, as: UTF8.self)
  }

  /// The size of a nonce, in bytes.
  static let nonceBytes = 12
}

extension SealedToken: CustomStringConvertible, CustomReflectable {
  var description: String { "SealedToken" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
