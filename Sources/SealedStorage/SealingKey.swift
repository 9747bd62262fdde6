import Crypto
import Foundation
import Secrets
import World

/// The 256-bit key of everything one phone keeps.
///
/// A phone holds it in its keychain; here the program that owns the `Device` provides it. Each file
/// and log uses a key of its own, derived by purpose, so bytes moved between them do not open.
public struct SealingKey: Sendable {
  /// The size of the key, in bytes.
  public static let byteCount = 32

  private let key: SymmetricKey

  /// Nil unless there are exactly 32 bytes.
  public init?(bytes: some ContiguousBytes & Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// A new key.
  public init(from randomness: any Randomness) {
    key = SymmetricKey(data: randomness.bytes(Self.byteCount))
  }

  /// The key for one purpose: HKDF-SHA256 with the purpose as info.
  func derived(for purpose: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, info: Data("Firebreak sealed storage 1: \(purpose)".utf8),
      outputByteCount: Self.byteCount)
  }
}

extension SealingKey: Redacted {}

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

extension Seal: Redacted {}
