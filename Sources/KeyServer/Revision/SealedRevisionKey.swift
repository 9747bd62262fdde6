import Crypto
import Foundation

/// A key of revision tokens as the database holds it: sealed under a key that lies elsewhere.
struct SealedRevisionKey: Hashable, Sendable {
  let id: String
  let sealed: Data
  /// From when it seals new tokens.
  let effectiveFrom: Date

  init(id: String, sealed: Data, effectiveFrom: Date) {
    self.id = id
    self.sealed = sealed
    self.effectiveFrom = effectiveFrom
  }

  /// Seals `key` under `wrappingKey`.
  init(
    id: String, _ key: SymmetricKey, under wrappingKey: SymmetricKey, effectiveFrom: Date
  ) throws {
    let bytes = key.withUnsafeBytes { Data($0) }
    let box = try AES.GCM.seal(bytes, using: wrappingKey, authenticating: Data(id.utf8))
    guard let sealed = box.combined else { throw CryptoKitError.incorrectParameterSize }
    self.init(id: id, sealed: sealed, effectiveFrom: effectiveFrom)
  }

  /// The key itself.
  ///
  /// - Throws: where `wrappingKey` is not the one it was sealed under.
  func opened(with wrappingKey: SymmetricKey) throws -> SymmetricKey {
    let box = try AES.GCM.SealedBox(combined: sealed)
    return SymmetricKey(
      data: try AES.GCM.open(box, using: wrappingKey, authenticating: Data(id.utf8)))
  }
}

extension SealedRevisionKey: CustomStringConvertible, CustomReflectable {
  var description: String { "SealedRevisionKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
