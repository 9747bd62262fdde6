// SPDX-License-Identifier: Apache-2.0

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
