// SPDX-License-Identifier: Apache-2.0
import Crypto
import _CryptoExtras
import Foundation
import Secrets

/// The two AES keys that a Temporary Exposure Key derives: for its identifiers and for their metadata.
///
/// Cryptography Specification 1.2.1, "Rolling Proximity Identifier Key" and "Associated Encrypted
/// Metadata Key": HKDF-SHA256(tek, no salt, "EN-RPIK" or "EN-AEMK", 16 bytes).
public struct KeySchedule: Sendable {
  private let rollingProximityIdentifierKey: SymmetricKey
  private let associatedEncryptedMetadataKey: SymmetricKey

  /// Derives both keys.
  public init(_ key: TemporaryExposureKey) {
    let material = withZeroedOnExit(key.key.array) { SymmetricKey(data: $0) }
    rollingProximityIdentifierKey = Self.derive(from: material, info: "EN-RPIK")
    associatedEncryptedMetadataKey = Self.derive(from: material, info: "EN-AEMK")
  }

  private static func derive(from material: SymmetricKey, info: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: material, info: Data(info.utf8), outputByteCount: SixteenBytes.count)
  }

  /// The identifier that a phone sends in `interval`.
  ///
  /// "Rolling Proximity Identifier": AES-128(RPIK, "EN-RPI" ‖ six zero bytes ‖ interval, little endian).
  public func identifier(at interval: IntervalNumber) -> RollingProximityIdentifier {
    var block = Array("EN-RPI".utf8) + [UInt8](repeating: 0, count: 6)
    block += withUnsafeBytes(of: interval.rawValue.littleEndian, Array.init)
    return RollingProximityIdentifier(sixteen: encryptedBlock(block))
  }

  /// Encrypts `metadata` for sending with `identifier`.
  ///
  /// "Associated Encrypted Metadata": AES-128-CTR(AEMK, IV = RPI).
  public func seal(
    _ metadata: BluetoothMetadata, beside identifier: RollingProximityIdentifier
  ) -> AssociatedEncryptedMetadata {
    AssociatedEncryptedMetadata(four: counterMode(metadata.bytes, identifier: identifier))
  }

  /// Decrypts metadata that was received with `identifier`.
  ///
  /// It is not authenticated: a relay may have changed it, so check its plausibility before use.
  public func open(
    _ metadata: AssociatedEncryptedMetadata, beside identifier: RollingProximityIdentifier
  ) -> BluetoothMetadata {
    BluetoothMetadata(four: counterMode(metadata.bytes, identifier: identifier))
  }
}

extension KeySchedule {
  private func encryptedBlock(_ block: [UInt8]) -> SixteenBytes {
    var block = block
    do {
      try AES.permute(&block, key: rollingProximityIdentifierKey)
    } catch {
      // AES fails only for keys and blocks of a wrong size, and both sizes are fixed above.
      preconditionFailure("AES rejected a 16-byte block")
    }
    guard let sixteen = SixteenBytes(block) else { preconditionFailure("AES changed the size") }
    return sixteen
  }

  private func counterMode(_ bytes: [UInt8], identifier: RollingProximityIdentifier) -> [UInt8] {
    do {
      let nonce = try AES._CTR.Nonce(nonceBytes: identifier.bytes)
      return Array(
        try AES._CTR.encrypt(bytes, using: associatedEncryptedMetadataKey, nonce: nonce))
    } catch {
      preconditionFailure("AES-CTR rejected a 16-byte counter block")
    }
  }
}

extension KeySchedule {
  /// The Rolling Proximity Identifier Key, 16 bytes, for tests with published vectors. A secret.
  package var rollingProximityIdentifierKeyBytes: [UInt8] {
    rollingProximityIdentifierKey.withUnsafeBytes(Array.init)
  }

  /// The Associated Encrypted Metadata Key, 16 bytes, for tests with published vectors. A secret.
  package var associatedEncryptedMetadataKeyBytes: [UInt8] {
    associatedEncryptedMetadataKey.withUnsafeBytes(Array.init)
  }
}

extension KeySchedule: Redacted {}
