import ExposureKeys
import Foundation

/// A sighting as one record of the sealed log: 30 bytes.
///
/// Version 1: the version, 16 bytes of identifier, 4 of metadata, the time as a 64-bit float of Unix
/// seconds (big endian), the signal strength in dBm.
struct StoredSighting {
  static let byteCount = 30
  private static let version: UInt8 = 1
  private static let time = 21..<29

  let sighting: Sighting

  init(_ sighting: Sighting) {
    self.sighting = sighting
  }

  /// Nil where these are not the bytes of a sighting.
  init?(_ record: Data) {
    let bytes = Array(record)
    guard bytes.count == Self.byteCount, bytes[0] == Self.version,
      let identifier = RollingProximityIdentifier(bytes: bytes[1..<17]),
      let metadata = AssociatedEncryptedMetadata(bytes: bytes[17..<21])
    else { return nil }
    let pattern = bytes[Self.time].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(
      Sighting(
        advertisement: Advertisement(identifier: identifier, metadata: metadata),
        time: Date(timeIntervalSince1970: Double(bitPattern: pattern)),
        signalStrength: Int8(bitPattern: bytes[29])))
  }

  var record: Data {
    let time = sighting.time.timeIntervalSince1970.bitPattern.bigEndian
    return Data([Self.version]) + sighting.advertisement.identifier.bytes
      + sighting.advertisement.metadata.bytes + withUnsafeBytes(of: time, Array.init)
      + [UInt8(bitPattern: sighting.signalStrength)]
  }
}
