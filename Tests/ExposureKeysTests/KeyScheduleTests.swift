import ExposureKeys
import Foundation
import TestSupport
import Testing

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

  @Test("Metadata is sealed as published beside every identifier, and opens again")
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

  @Test("The published metadata says version 1.0 and 8 dBm, and no calibration confidence")
  func publishedMetadata() throws {
    let metadata = try #require(try CryptoVectors.load().metadata)
    #expect(metadata == BluetoothMetadata(transmitPower: 8))
    #expect((metadata.majorVersion, metadata.minorVersion) == (1, 0))
    #expect(metadata.transmitPower == 8)
    #expect(metadata.calibrationConfidence == nil)
  }

  @Test("The first beacon of the published day is the published advertisement, both ways")
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
