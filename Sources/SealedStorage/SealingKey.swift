// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import World

/// The 256-bit key of all data that one phone stores.
///
/// A real phone holds it in its keychain; here the program that owns the `Device` provides it. Each file
/// and log uses its own key, derived by purpose, so bytes moved between them cannot be decrypted.
public struct SealingKey: Sendable {
  /// The size of the key, in bytes.
  public static let byteCount = 32

  private let key: SymmetricKey

  /// Returns nil unless there are exactly 32 bytes.
  public init?(bytes: some ContiguousBytes & Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// Creates a random key.
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

/// Encrypts and decrypts bytes for one purpose: AES-256-GCM with a random nonce.
struct Seal: Sendable {
  /// The size of nonce and tag, in bytes.
  static let overhead = 12 + 16

  private let key: SymmetricKey
  private let randomness: any Randomness

  init(key: SealingKey, purpose: String, randomness: any Randomness) {
    self.key = key.derived(for: purpose)
    self.randomness = randomness
  }

  /// Encrypts `content` for `location`. A box that was moved elsewhere cannot be decrypted.
  func seal(_ content: Data, location: String) throws(SealedStorageError) -> Data {
    let box: AES.GCM.SealedBox
    do {
      box = try AES.GCM.seal(
        content, using: key, nonce: try AES.GCM.Nonce(data: randomness.bytes(12)),
        authenticating: Data(location.utf8))
    } catch {
      throw .damaged
    }
    guard let combined = box.combined else { throw .damaged }
    return combined
  }

  func open(_ box: Data, location: String) throws(SealedStorageError) -> Data {
    do {
      return try AES.GCM.open(
        AES.GCM.SealedBox(combined: box), using: key, authenticating: Data(location.utf8))
    } catch {
      throw .damaged
    }
  }
}

extension Seal: Redacted {}
