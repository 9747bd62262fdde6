import ExposureKeys
import Foundation
import TestSupport

/// The published day of one phone: a key, its derived keys, and 144 identifiers with their metadata.
struct CryptoVectors: Decodable {
  private let tek: String
  private let rolling_start_interval_number: UInt32
  private let ble_metadata: String
  private let rpi: [String]
  private let aem: [String]

  static func load() throws -> CryptoVectors {
    let url = SharedData.url("vectors/gaen_crypto_vectors.json")
    return try JSONDecoder().decode(CryptoVectors.self, from: Data(contentsOf: url))
  }

  /// The advertisement that the published export vectors give for the first interval.
  static func firstAdvertisementPayload() throws -> [UInt8] {
    struct Wire: Decodable { let advertising_payload_interval_0: String }
    let url = SharedData.url("vectors/gaen_export_vectors.json")
    let wire = try JSONDecoder().decode(Wire.self, from: Data(contentsOf: url))
    return bytes(wire.advertising_payload_interval_0)
  }

  var key: TemporaryExposureKey? {
    TemporaryExposureKey(
      bytes: bytes(tek), rollingStart: IntervalNumber(rawValue: rolling_start_interval_number))
  }

  var metadata: BluetoothMetadata? { BluetoothMetadata(bytes: bytes(ble_metadata)) }

  /// Every interval with what is on the air in it.
  var beacons: [(interval: IntervalNumber, identifier: [UInt8], metadata: [UInt8])] {
    zip(rpi, aem).enumerated().map { index, beacon in
      let number = rolling_start_interval_number + UInt32(index)
      return (IntervalNumber(rawValue: number), bytes(beacon.0), bytes(beacon.1))
    }
  }
}

/// The bytes that hexadecimal digits name.
func bytes(_ hexadecimal: String) -> [UInt8] {
  let digits = hexadecimal.compactMap(\.hexDigitValue).map(UInt8.init)
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
