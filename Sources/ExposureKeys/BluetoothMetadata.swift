/// What a phone says about its own radio: the protocol's version and how loud it sends.
///
/// Bluetooth Specification 1.2.2, "Associated Encrypted Metadata": byte 0 holds the major version in
/// bits 7:6, the minor version in bits 5:4 and, from version 1.1, the calibration confidence in bits
/// 3:2; byte 1 the transmit power in dBm; bytes 2 and 3 are reserved.
public struct BluetoothMetadata: Hashable, Sendable {
  /// The version 1.0, in byte 0.
  public static let versionOneZero: UInt8 = 0x40
  /// Transmit powers that a real phone can have, in dBm; others are a mistake or an attack.
  public static let plausibleTransmitPower: ClosedRange<Int8> = -50...20

  /// The four bytes, unsealed.
  public let bytes: [UInt8]

  /// Version 1.0 with this transmit power in dBm.
  public init(transmitPower: Int8) {
    bytes = [Self.versionOneZero, UInt8(bitPattern: transmitPower), 0, 0]
  }

  /// Nil unless there are exactly four bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == AssociatedEncryptedMetadata.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  init(four: [UInt8]) {
    bytes = four
  }

  /// The major version; this protocol has 1.
  public var majorVersion: UInt8 { bytes[0] >> 6 }
  /// The minor version: 0 or 1.
  public var minorVersion: UInt8 { bytes[0] >> 4 & 0b11 }
  /// The power the beacon was sent with, in dBm.
  public var transmitPower: Int8 { Int8(bitPattern: bytes[1]) }
  /// How well the sender's radio is calibrated, 0 (not) to 3 (this model); nil before version 1.1.
  public var calibrationConfidence: UInt8? {
    minorVersion >= 1 ? bytes[0] >> 2 & 0b11 : nil
  }
}

/// How much of a beacon's strength was lost on the way, in decibels, 0...255.
///
/// The stand-in for distance: transmit power as the sender states it, less the strength received.
public struct Attenuation: Hashable, Comparable, Sendable {
  /// The loss in decibels.
  public let decibels: UInt8

  /// A loss of this many decibels.
  public init(decibels: UInt8) {
    self.decibels = decibels
  }

  /// The loss between sending with `transmitPower` and receiving with `signalStrength` (both dBm);
  /// `correction` (dB) makes up for the receiving phone's antenna. Clamped to 0...255.
  public init(transmitPower: Int8, signalStrength: Int8, correction: Int8 = 0) {
    let loss = Int(transmitPower) - (Int(signalStrength) + Int(correction))
    decibels = UInt8(clamping: loss)
  }

  public static func < (left: Attenuation, right: Attenuation) -> Bool {
    left.decibels < right.decibels
  }
}
