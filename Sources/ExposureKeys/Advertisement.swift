/// One beacon: an identifier and its sealed metadata, which always change together.
public struct Advertisement: Hashable, Sendable {
  /// Who sends.
  public let identifier: RollingProximityIdentifier
  /// What the sender says about its radio, sealed.
  public let metadata: AssociatedEncryptedMetadata

  /// A beacon of these two parts.
  public init(identifier: RollingProximityIdentifier, metadata: AssociatedEncryptedMetadata) {
    self.identifier = identifier
    self.metadata = metadata
  }
}

extension Advertisement {
  /// The size of a legacy Bluetooth advertisement, in bytes.
  public static let payloadByteCount = 31

  /// The exposure notification service, 0xFD6F, as it goes over the air.
  private static let service: [UInt8] = [0x6f, 0xfd]
  private static let serviceDataType: UInt8 = 0x16
  private static let header: [UInt8] =
    [0x02, 0x01, 0x1a] + [0x03, 0x03] + service + [0x17, serviceDataType] + service

  /// The 31 bytes on the air.
  ///
  /// Bluetooth Specification 1.2.2, "Advertising Payload": flags, the service's identifier, then the
  /// service data with identifier and metadata.
  public var payload: [UInt8] { Self.header + identifier.bytes + metadata.bytes }

  /// Reads a payload heard on the air; nil where it is no exposure notification beacon.
  ///
  /// Only the service data counts: phones differ in their flags, and some send none.
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

  /// Reads one structure of a payload: its type, then its bytes.
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
