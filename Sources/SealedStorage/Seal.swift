import Crypto
import Foundation
import World

/// Seals and opens bytes for one purpose: AES-256-GCM with a random nonce.
struct Seal: Sendable {
  /// What a box is longer than its content, in bytes: nonce and tag.
  static let overhead = 12 + 16

  private let key: SymmetricKey
  private let randomness: any Randomness

  init(key: SealingKey, purpose: String, randomness: any Randomness) {
    self.key = key.derived(for: purpose)
    self.randomness = randomness
  }

  /// `place` says where the box stands; a box moved elsewhere does not open.
  func seal(_ content: Data, place: String) throws(SealedStorageError) -> Data {
    guard let nonce = try? AES.GCM.Nonce(data: randomness.bytes(12)),
      let box = try? AES.GCM.seal(
        content, using: key, nonce: nonce, authenticating: Data(place.utf8)),
      let combined = box.combined
    else { throw .damaged }
    return combined
  }

  func open(_ box: Data, place: String) throws(SealedStorageError) -> Data {
    guard let sealed = try? AES.GCM.SealedBox(combined: box),
      let content = try? AES.GCM.open(sealed, using: key, authenticating: Data(place.utf8))
    else { throw .damaged }
    return content
  }
}

extension Seal: CustomStringConvertible, CustomReflectable {
  var description: String { "Seal" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
