import Crypto
import CryptoExtras
import Foundation
import Secrets

/// What a Temporary Exposure Key derives: the two AES keys of its identifiers and their metadata.
///
/// Cryptography Specification 1.2.1, "Rolling Proximity Identifier Key" and "Associated Encrypted
/// Metadata Key": HKDF-SHA256(tek, no salt, "EN-RPIK" or "EN-AEMK", 16 bytes).
public struct KeySchedule: Sendable {
  private let rollingProximityIdentifierKey: SymmetricKey
  private let associatedEncryptedMetadataKey: SymmetricKey

  /// Derives both keys.
  public init(_ key: TemporaryExposureKey) {
    let material = SymmetricKey(data: key.key.array)
    rollingProximityIdentifierKey = Self.derive(from: material, info: "EN-RPIK")
    associatedEncryptedMetadataKey = Self.derive(from: material, info: "EN-AEMK")
  }

  private static func derive(from material: SymmetricKey, info: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: material, info: Data(info.utf8), outputByteCount: SixteenBytes.count)
  }

  /// The identifier a phone sends in `interval`.
  ///
  /// "Rolling Proximity Identifier": AES-128(RPIK, "EN-RPI" ‖ six zero bytes ‖ interval, little endian).
  public func identifier(at interval: IntervalNumber) -> RollingProximityIdentifier {
    var block = Array("EN-RPI".utf8) + [UInt8](repeating: 0, count: 6)
    block += withUnsafeBytes(of: interval.rawValue.littleEndian, Array.init)
    return RollingProximityIdentifier(sixteen: encryptedBlock(block))
  }

  /// Seals `metadata` for sending beside `identifier`.
  ///
  /// "Associated Encrypted Metadata": AES-128-CTR(AEMK, IV = RPI).
  public func seal(
    _ metadata: BluetoothMetadata, beside identifier: RollingProximityIdentifier
  ) -> AssociatedEncryptedMetadata {
    AssociatedEncryptedMetadata(four: counterMode(metadata.bytes, identifier: identifier))
  }

  /// Opens what `seal` sealed. Nothing authenticates it: whoever relayed the beacon may have
  /// changed it, so the result is to be checked for sense before it is used.
  public func open(
    _ metadata: AssociatedEncryptedMetadata, beside identifier: RollingProximityIdentifier
  ) -> BluetoothMetadata {
    BluetoothMetadata(four: counterMode(metadata.bytes, identifier: identifier))
  }
}

extension KeySchedule {
  private func encryptedBlock(_ block: [UInt8]) -> SixteenBytes {
    var block = block
    // AES refuses only keys and blocks of a wrong size, and both sizes are fixed above.
    guard (try? AES.permute(&block, key: rollingProximityIdentifierKey)) != nil,
      let sixteen = SixteenBytes(block)
    else { preconditionFailure("AES refused a 16-byte block") }
    return sixteen
  }

  private func counterMode(_ bytes: [UInt8], identifier: RollingProximityIdentifier) -> [UInt8] {
    guard let nonce = try? AES._CTR.Nonce(nonceBytes: identifier.bytes),
      let result = try? AES._CTR.encrypt(bytes, using: associatedEncryptedMetadataKey, nonce: nonce)
    else { preconditionFailure("AES-CTR refused a 16-byte counter block") }
    return Array(result)
  }
}

extension KeySchedule {
  /// RPIK, 16 bytes, for comparison with published vectors. As secret as the key itself.
  package var rollingProximityIdentifierKeyBytes: [UInt8] {
    rollingProximityIdentifierKey.withUnsafeBytes(Array.init)
  }

  /// AEMK, 16 bytes, for comparison with published vectors. As secret as the key itself.
  package var associatedEncryptedMetadataKeyBytes: [UInt8] {
    associatedEncryptedMetadataKey.withUnsafeBytes(Array.init)
  }
}

extension KeySchedule: Redacted {}
