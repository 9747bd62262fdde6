import ExposureKeys
import Testing

@Suite("Attenuation and metadata")
struct AttenuationTests {
  @Test(
    "Attenuation is transmit power less received strength, clamped to one byte",
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

  @Test("Every transmit power goes in and out", arguments: Int8.min...Int8.max)
  func power(power: Int8) {
    #expect(BluetoothMetadata(transmitPower: power).transmitPower == power)
  }

  @Test("From version 1.1 a phone says how well its radio is calibrated", arguments: UInt8(0)...3)
  func confidence(level: UInt8) throws {
    let metadata = try #require(BluetoothMetadata(bytes: [0b0101_0000 | level << 2, 0, 0, 0]))
    #expect((metadata.majorVersion, metadata.minorVersion) == (1, 1))
    #expect(metadata.calibrationConfidence == level)
  }

  @Test("Metadata has four bytes", arguments: [0, 3, 4, 5])
  func size(count: Int) {
    let bytes = [UInt8](repeating: 0, count: count)
    #expect((BluetoothMetadata(bytes: bytes) != nil) == (count == 4))
    #expect((AssociatedEncryptedMetadata(bytes: bytes) != nil) == (count == 4))
  }
}
