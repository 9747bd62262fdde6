// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import TextEncodings

@Suite("Key schedule", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct KeyScheduleTests {
  @Test("A published key derives all 144 published identifiers of its day")
  func identifiers() throws {
    let vectors = try CryptoVectors.load()
    let schedule = KeySchedule(try #require(vectors.key))
    #expect(vectors.beacons.count == 144)
    for beacon in vectors.beacons {
      #expect(schedule.identifier(at: beacon.interval).bytes == beacon.identifier)
    }
  }

  @Test("Metadata is encrypted as published for every identifier, and decrypted again")
  func metadata() throws {
    let vectors = try CryptoVectors.load()
    let schedule = KeySchedule(try #require(vectors.key))
    let metadata = try #require(vectors.metadata)
    for beacon in vectors.beacons {
      let identifier = try #require(RollingProximityIdentifier(bytes: beacon.identifier))
      let sealed = try #require(AssociatedEncryptedMetadata(bytes: beacon.metadata))
      #expect(schedule.seal(metadata, beside: identifier) == sealed)
      #expect(schedule.open(sealed, beside: identifier) == metadata)
    }
  }

  @Test("The published metadata has version 1.0 and 8 dBm, and no calibration confidence")
  func publishedMetadata() throws {
    let metadata = try #require(try CryptoVectors.load().metadata)
    #expect(metadata == BluetoothMetadata(transmitPower: 8))
    #expect((metadata.majorVersion, metadata.minorVersion) == (1, 0))
    #expect(metadata.transmitPower == 8)
    #expect(metadata.calibrationConfidence == nil)
  }

  @Test("The first beacon of the published day is the published advertisement, in both directions")
  func advertisement() throws {
    let vectors = try CryptoVectors.load()
    let first = try #require(vectors.beacons.first)
    let advertisement = Advertisement(
      identifier: try #require(RollingProximityIdentifier(bytes: first.identifier)),
      metadata: try #require(AssociatedEncryptedMetadata(bytes: first.metadata)))
    let payload = try CryptoVectors.firstAdvertisementPayload()
    #expect(advertisement.payload == payload)
    #expect(Advertisement(payload: payload) == advertisement)
  }
}

/// The published day of one phone: its key, the derived keys, and 144 identifiers with their metadata.
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

  /// The published advertisement of the first interval.
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

  /// The beacon of every interval.
  var beacons: [(interval: IntervalNumber, identifier: [UInt8], metadata: [UInt8])] {
    zip(rpi, aem).enumerated().map { index, beacon in
      let number = rolling_start_interval_number + UInt32(index)
      return (IntervalNumber(rawValue: number), bytes(beacon.0), bytes(beacon.1))
    }
  }
}

/// The bytes of hexadecimal digits; none for other text, which no expectation accepts.
func bytes(_ hexadecimal: String) -> [UInt8] { [UInt8](hexadecimal: hexadecimal) ?? [] }
