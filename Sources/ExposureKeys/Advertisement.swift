// SPDX-License-Identifier: Apache-2.0
import Secrets

/// A beacon: an identifier and its encrypted metadata, which always change together.
public struct Advertisement: Hashable, Sendable {
  /// The identifier of the sender.
  public let identifier: RollingProximityIdentifier
  /// The sender's version and transmit power, encrypted.
  public let metadata: AssociatedEncryptedMetadata

  /// Creates a beacon of these two parts.
  public init(identifier: RollingProximityIdentifier, metadata: AssociatedEncryptedMetadata) {
    self.identifier = identifier
    self.metadata = metadata
  }
}

extension Advertisement {
  /// The size of a legacy Bluetooth advertisement, in bytes.
  public static let payloadByteCount = 31

  /// The 16-bit UUID of the exposure notification service, 0xFD6F, in over-the-air byte order.
  private static let service: [UInt8] = [0x6f, 0xfd]
  private static let serviceDataType: UInt8 = 0x16
  private static let header: [UInt8] =
    [0x02, 0x01, 0x1a] + [0x03, 0x03] + service + [0x17, serviceDataType] + service

  /// The 31 bytes of the advertisement.
  ///
  /// Bluetooth Specification 1.2.2, "Advertising Payload": flags, the service UUID, then the service data
  /// with identifier and metadata.
  public var payload: [UInt8] { Self.header + identifier.bytes + metadata.bytes }

  /// Parses a received payload; nil if it is not an exposure notification beacon.
  ///
  /// Only the service data matters: phones have different flags, and some send none.
  public init?(payload: some Collection<UInt8>) {
    guard payload.count <= Self.payloadByteCount else { return nil }
    var rest = Array(payload)[...]
    while let length = rest.first.map(Int.init), length > 0, rest.count > length {
      let structure = rest.dropFirst().prefix(length)
      if let found = Advertisement(structure: structure) {
        self = found
        return
      }
      rest = rest.dropFirst(1 + length)
    }
    return nil
  }

  /// Parses one structure of a payload: its type, then its bytes.
  private init?(structure: ArraySlice<UInt8>) {
    let data = structure.dropFirst(1 + Self.service.count)
    guard structure.starts(with: [Self.serviceDataType] + Self.service),
      let identifier = RollingProximityIdentifier(
        bytes: data.prefix(RollingProximityIdentifier.byteCount)),
      let metadata = AssociatedEncryptedMetadata(
        bytes: data.dropFirst(RollingProximityIdentifier.byteCount))
    else { return nil }
    self.init(identifier: identifier, metadata: metadata)
  }
}

/// The identifier that a phone sends for ten to twenty minutes.
///
/// Cryptography Specification 1.2.1, "Rolling Proximity Identifier": 16 bytes that look random without
/// the Temporary Exposure Key.
public struct RollingProximityIdentifier: Hashable, Sendable {
  /// The size of an identifier, in bytes.
  public static let byteCount = SixteenBytes.count

  private let value: SixteenBytes

  /// Returns nil unless there are exactly 16 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard let value = SixteenBytes(bytes) else { return nil }
    self.value = value
  }

  init(sixteen: SixteenBytes) {
    value = sixteen
  }

  /// The 16 bytes in over-the-air order.
  public var bytes: [UInt8] { value.array }

  /// The 16 bytes as two words in memory order, for the matcher's loops.
  package var words: (UInt64, UInt64) { value.words }
}

extension RollingProximityIdentifier: Redacted {}

/// The four encrypted bytes that are sent with a Rolling Proximity Identifier.
///
/// Cryptography Specification 1.2.1, "Associated Encrypted Metadata". Only the Temporary Exposure Key
/// decrypts them, with `KeySchedule.open(_:beside:)`.
public struct AssociatedEncryptedMetadata: Hashable, Sendable {
  /// The size of the metadata, in bytes.
  public static let byteCount = 4

  /// The four bytes without an array, the first one highest: a phone holds a million of them at once.
  private let word: UInt32

  /// The four bytes in over-the-air order.
  public var bytes: [UInt8] { withUnsafeBytes(of: word.bigEndian, Array.init) }

  /// Returns nil unless there are exactly four bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(four: bytes)
  }

  init(four: some Collection<UInt8>) {
    word = four.reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension AssociatedEncryptedMetadata: Redacted {}

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

/// The loss of signal strength between sender and receiver, in decibels, 0...255.
///
/// The measure of distance: the transmit power that the sender states, minus the received strength.
public struct Attenuation: Hashable, Comparable, Sendable {
  /// The loss in decibels.
  public let decibels: UInt8

  /// Creates a loss of this many decibels.
  public init(decibels: UInt8) {
    self.decibels = decibels
  }

  /// The loss between sending with `transmitPower` and receiving with `signalStrength` (both dBm).
  /// `correction` (dB) compensates for the receiving phone's antenna. Clamped to 0...255.
  public init(transmitPower: Int8, signalStrength: Int8, correction: Int8 = 0) {
    let loss = Int(transmitPower) - (Int(signalStrength) + Int(correction))
    decibels = UInt8(clamping: loss)
  }

  public static func < (left: Attenuation, right: Attenuation) -> Bool {
    left.decibels < right.decibels
  }
}
