// SPDX-License-Identifier: Apache-2.0
/// The sender's part of the signal measurement: protocol version, transmit power and calibration.
///
/// Bluetooth Specification 1.2.2, "Associated Encrypted Metadata": byte 0 holds the major version in
/// bits 7:6, the minor version in bits 5:4 and, from version 1.1, the calibration confidence in bits
/// 3:2; byte 1 the transmit power in dBm; bytes 2 and 3 are reserved.
public struct BluetoothMetadata: Hashable, Sendable {
  /// Version 1.0, in byte 0.
  public static let versionOneZero: UInt8 = 0x40
  /// Version 1.1 without the calibration confidence, in byte 0.
  public static let versionOneOne: UInt8 = 0x50
  /// The transmit powers that a real phone can have, in dBm; others are errors or attacks.
  public static let plausibleTransmitPower: ClosedRange<Int8> = -50...20

  /// The four decrypted bytes.
  public let bytes: [UInt8]

  /// Creates metadata of version 1.1 with the transmit power and confidence of the sender's radio.
  public init(_ calibration: Calibration) {
    bytes = [
      Self.versionOneOne | calibration.confidence.rawValue << 2,
      UInt8(bitPattern: calibration.transmitPower), 0, 0,
    ]
  }

  /// Creates metadata of version 1.0, which states no confidence, with this transmit power in dBm.
  public init(transmitPower: Int8) {
    bytes = [Self.versionOneZero, UInt8(bitPattern: transmitPower), 0, 0]
  }

  /// Returns nil unless there are exactly four bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == AssociatedEncryptedMetadata.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  init(four: [UInt8]) {
    bytes = four
  }

  /// The major version; 1 in this protocol.
  public var majorVersion: UInt8 { bytes[0] >> 6 }
  /// The minor version: 0 or 1.
  public var minorVersion: UInt8 { bytes[0] >> 4 & 0b11 }
  /// The power the beacon was sent with, in dBm.
  public var transmitPower: Int8 { Int8(bitPattern: bytes[1]) }
  /// The reliability of the transmit power; nil before version 1.1.
  public var calibrationConfidence: CalibrationConfidence? {
    minorVersion >= 1 ? CalibrationConfidence(rawValue: bytes[0] >> 2 & 0b11) : nil
  }
}
