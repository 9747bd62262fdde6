// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import TestSupport
import Testing

@Suite("Advertisement")
struct AdvertisementTests {
  private let advertisement = Advertisement(
    identifier: RollingProximityIdentifier(bytes: Array(1...16)).unwrapped,
    metadata: AssociatedEncryptedMetadata(bytes: [0xa, 0xb, 0xc, 0xd]).unwrapped)

  @Test("A payload has 31 bytes and is parsed back to the same beacon")
  func roundTrip() {
    #expect(advertisement.payload.count == Advertisement.payloadByteCount)
    #expect(Advertisement(payload: advertisement.payload) == advertisement)
  }

  @Test("Payloads with other flags, or none, are parsed")
  func otherFlags() {
    let data = Array(advertisement.payload.dropFirst(7))
    let withoutFlags = Array(advertisement.payload.dropFirst(3))
    #expect(Advertisement(payload: data) == advertisement)
    #expect(Advertisement(payload: withoutFlags) == advertisement)
    #expect(Advertisement(payload: [0x02, 0x01, 0x06] + withoutFlags) == advertisement)
  }

  @Test("A payload truncated at any byte is rejected", arguments: 0..<31)
  func cut(length: Int) {
    #expect(Advertisement(payload: advertisement.payload.prefix(length)) == nil)
  }

  @Test("A payload longer than the Bluetooth limit is rejected")
  func tooLong() {
    #expect(Advertisement(payload: advertisement.payload + [0]) == nil)
  }

  @Test("Random bytes of any length are rejected", arguments: 0...64)
  func junk(length: Int) {
    var generator = SeededGenerator(seed: UInt64(length))
    for _ in 0..<200 {
      var junk = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Excludes our service UUID by chance.
      junk = junk.map { $0 == 0x6f ? 0x70 : $0 }
      #expect(Advertisement(payload: junk) == nil)
    }
    #expect(Advertisement(payload: [UInt8](repeating: 0, count: length)) == nil)
    #expect(Advertisement(payload: [UInt8](repeating: 0xff, count: length)) == nil)
  }

  @Test("A payload of another service is rejected")
  func otherService() {
    var payload = advertisement.payload
    payload[9] = 0x6e
    #expect(Advertisement(payload: payload) == nil)
  }

  @Test("A payload with any byte changed is another beacon or rejected", arguments: 0..<31)
  func changed(position: Int) {
    for value in UInt8.min...UInt8.max where value != advertisement.payload[position] {
      var payload = advertisement.payload
      payload[position] = value
      let read = Advertisement(payload: payload)
      // The first eleven bytes are headers; the rest is the beacon.
      #expect(position < 11 ? read == nil || read == advertisement : read != advertisement)
    }
  }
}

@Suite("Attenuation and metadata")
struct AttenuationTests {
  @Test(
    "Attenuation is transmit power minus received strength, clamped to one byte",
    arguments: [
      (Int8(8), Int8(-60), Int8(0), UInt8(68)), (-20, -10, 0, 0), (0, 0, 0, 0), (0, -1, 0, 1),
      (127, -128, 0, 255), (127, -128, -1, 255), (127, -127, 0, 254), (-128, 127, 127, 0),
      (8, -60, 5, 63), (8, -60, -5, 73),
    ])
  func attenuation(power: Int8, strength: Int8, correction: Int8, loss: UInt8) {
    let attenuation = Attenuation(
      transmitPower: power, signalStrength: strength, correction: correction)
    #expect(attenuation.decibels == loss)
  }

  @Test("Every transmit power is kept", arguments: Int8.min...Int8.max)
  func power(power: Int8) {
    #expect(BluetoothMetadata(transmitPower: power).transmitPower == power)
  }

  @Test("Metadata from version 1.1 on has the calibration confidence", arguments: UInt8(0)...3)
  func confidence(level: UInt8) throws {
    let metadata = try #require(BluetoothMetadata(bytes: [0b0101_0000 | level << 2, 0, 0, 0]))
    #expect((metadata.majorVersion, metadata.minorVersion) == (1, 1))
    #expect(metadata.calibrationConfidence?.rawValue == level)
  }

  @Test("Metadata has exactly four bytes", arguments: [0, 3, 4, 5])
  func size(count: Int) {
    let bytes = [UInt8](repeating: 0, count: count)
    #expect((BluetoothMetadata(bytes: bytes) != nil) == (count == 4))
    #expect((AssociatedEncryptedMetadata(bytes: bytes) != nil) == (count == 4))
  }
}

extension Optional {
  /// The value made of fixed bytes of the test.
  var unwrapped: Wrapped {
    guard let self else { preconditionFailure("the bytes of the test are invalid") }
    return self
  }
}
