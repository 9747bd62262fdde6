import Crypto
import Foundation
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

extension SealingKey: CustomStringConvertible, CustomReflectable {
  public var description: String { "SealingKey" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
