import ExposureKeys
import Foundation
import Simulation
import Synchronization
import Testing

@Suite struct SimulatedAirTests {
  private let air = SimulatedAir(randomness: SeededRandomness(seed: 1, name: "air"))

  /// What a scan of `listener` hears of one beacon of `sender`.
  private func heard(by listener: String, from sender: String) async throws -> [Sighting] {
    let identifier = try #require(RollingProximityIdentifier(bytes: [UInt8](0..<16)))
    let metadata = try #require(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4]))
    await SimulatedRadio(name: sender, air: air)
      .advertise(Advertisement(identifier: identifier, metadata: metadata))
    let kept = Mutex<[Sighting]>([])
    let radio = SimulatedRadio(name: listener, air: air)
    await radio.listen { sightings in kept.withLock { $0 += sightings } }
    await radio.scan(at: Date(timeIntervalSince1970: 600))
    return kept.withLock { $0 }
  }

  @Test("Phones at a table hear each other, with an attenuation a table has")
  func table() async throws {
    air.place("near", "diagnosed", metres: 1)
    let sighting = try #require(try await heard(by: "near", from: "diagnosed").first)
    let attenuation = Attenuation(
      transmitPower: AirModel.transmitPower, signalStrength: sighting.signalStrength)
    #expect((42...48).contains(attenuation.decibels))
  }

  @Test("Phones that nobody placed, parted, or placed far off hear nothing")
  func silence() async throws {
    #expect(try await heard(by: "far", from: "diagnosed").isEmpty)
    air.place("far", "diagnosed", metres: 150)
    #expect(try await heard(by: "far", from: "diagnosed").isEmpty)
    air.place("far", "diagnosed", metres: 1)
    air.part("far", "diagnosed")
    #expect(try await heard(by: "far", from: "diagnosed").isEmpty)
  }
}
