// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
@testable import ExposureNotification
import Foundation
@testable import Simulation
import TestSupport
import Testing

@Suite("Seeded randomness") struct SeededRandomnessTests {
  @Test("The same seed and name give the same bytes in draws of any size")
  func repeats() {
    let whole = SeededRandomness(seed: 7, name: "ala").bytes(100)
    let source = SeededRandomness(seed: 7, name: "ala")
    #expect(source.bytes(1) + source.bytes(32) + source.bytes(67) == whole)
  }

  @Test("Another name or another seed gives other bytes")
  func differs() {
    let whole = SeededRandomness(seed: 7, name: "ala").bytes(32)
    #expect(SeededRandomness(seed: 7, name: "olek").bytes(32) != whole)
    #expect(SeededRandomness(seed: 8, name: "ala").bytes(32) != whole)
  }

  @Test("A draw of the size of a decoy leaves a source with the memory of one hash")
  func memory() {
    let source = SeededRandomness(seed: 7, name: "ala")
    for count in [24 << 10, 1, 24 << 10] { #expect(source.bytes(count).count == count) }
    #expect(source.restCapacity <= 64)
  }
}

@Suite("Simulated radio channel") struct SimulatedAirTests {
  private let air = SimulatedAir<Advertisement>(
    randomness: SeededRandomness(seed: 1, name: "air"))
  private let start = Date(timeIntervalSince1970: 600)

  /// The first scans of `listener` while `sender` sends a beacon.
  private func scans(
    _ count: Int = 1, by listener: String, from sender: String
  ) async throws -> [Scan] {
    let identifier = try #require(RollingProximityIdentifier(bytes: [UInt8](0..<16)))
    let metadata = try #require(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4]))
    let beacon = ScheduledBeacon(
      start: start, advertisement: Advertisement(identifier: identifier, metadata: metadata))
    let radio = SimulatedRadio(name: listener, air: air)
    await radio.listen { _ in }
    let end = start + Double(count * AirModel.scanIntervalSeconds.upperBound)
    let scans = try #require(
      radio.scans(
        after: start, until: end, air.nearby([listener, sender])[0], [[], [beacon]]))
    return Array(scans.prefix(count))
  }

  @Test("Phones one metre apart receive each other with a plausible attenuation")
  func table() async throws {
    air.place("near", "diagnosed", metres: 1)
    let sightings = try await scans(20, by: "near", from: "diagnosed").flatMap(\.sightings)
    #expect(sightings.count >= 20)
    for sighting in sightings {
      let attenuation = Attenuation(
        transmitPower: AirModel.transmitPower, signalStrength: sighting.signalStrength)
      #expect((42...48).contains(attenuation.decibels))
    }
  }

  @Test("A scan receives a beacon one to eight times, with different strengths, before its end")
  func severalBeacons() async throws {
    air.place("near", "diagnosed", metres: 1)
    let scans = try await scans(100, by: "near", from: "diagnosed")
    #expect(scans.count == 100)
    #expect(Set(scans.map(\.sightings.count)) == Set(AirModel.receptionsPerScan))
    #expect(scans.contains { Set($0.sightings.map(\.signalStrength)).count > 1 })
    for scan in scans {
      #expect(scan.time > start)
      #expect(scan.sightings.first?.time == scan.time)
      #expect(scan.sightings.allSatisfy { $0.time < scan.time + AirModel.scanSeconds })
    }
  }

  @Test("A scan is reported when it ends, four seconds after its start")
  func scanEnd() async throws {
    let radio = SimulatedRadio(name: "near", air: air)
    await radio.listen { _ in }
    var count = 0
    for second in 1...600 {
      let now = start + Double(second)
      for scan in try #require(radio.scans(after: now - 1, until: now, [], [])) {
        #expect(scan.time == now - 4)
        count += 1
      }
    }
    #expect(count >= 2)
  }

  @Test("Without a phone in range, separated, or 150 m apart, scans are empty")
  func silence() async throws {
    #expect(try await scans(by: "far", from: "diagnosed").map(\.sightings) == [[]])
    air.place("far", "diagnosed", metres: 150)
    #expect(try await scans(by: "far", from: "diagnosed").map(\.sightings) == [[]])
    air.place("far", "diagnosed", metres: 1)
    #expect(try await scans(by: "far", from: "diagnosed").map(\.sightings) != [[]])
    air.separate("far", "diagnosed")
    #expect(try await scans(by: "far", from: "diagnosed").map(\.sightings) == [[]])
  }

  @Test("Controllers with positions receive each other in range")
  func positions() {
    let numbers = SimulatedAir<Int>(randomness: SeededRandomness(seed: 1, name: "air"))
    numbers.move("diagnosed", to: Position(x: 3, y: 4))
    numbers.set(7, from: "diagnosed")
    var generator = numbers.generator(of: "near")
    #expect(numbers.scan(by: "near", &generator).isEmpty)
    numbers.move("near", to: Position(x: 3, y: 5))
    #expect(Set(numbers.scan(by: "near", &generator).map(\.beacon)) == [7])
    numbers.move("near", to: Position(x: 3, y: 150))
    #expect(numbers.scan(by: "near", &generator).isEmpty)
  }

  @Test("A phone receives others in the order of their names, and not itself")
  func order() {
    let numbers = SimulatedAir<Int>(randomness: SeededRandomness(seed: 1, name: "air"))
    for (number, name) in ["cleo", "ada", "ben"].enumerated() {
      numbers.move(name, to: Position(x: 0, y: Double(number)))
      numbers.set(number, from: name)
    }
    var generator = numbers.generator(of: "ada")
    let senders = numbers.scan(by: "ada", &generator).map(\.sender)
    #expect(Set(senders) == ["ben", "cleo"] && senders == senders.sorted())
    numbers.set(nil, from: "ben")
    #expect(Set(numbers.scan(by: "ada", &generator).map(\.beacon)) == [0])
  }
}

@Suite("Plain text search") struct PlainTextSearchTests {
  private let secret = [UInt8](0..<16)
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A secret is found as bytes, as hex in both cases, and as base64")
  func spellings() throws {
    let hex = secret.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    let spellings = [
      Data(secret), Data(hex.utf8), Data(hex.uppercased().utf8),
      Data(secret).base64EncodedData(),
    ]
    for (index, spelling) in spellings.enumerated() {
      try (Data("before".utf8) + spelling + Data("after".utf8)).write(to: folder.path("\(index)"))
    }
    let found = try PlainTextSearch(for: [secret]).search(below: folder.url)
    #expect(found.files == 4)
    #expect(found.leaks.sorted() == ["0", "1", "2", "3"])
  }

  @Test("A secret in JSON is found although its base64 has escaped slashes")
  func json() throws {
    let slashes = [UInt8](repeating: 0xff, count: 16)
    try JSONEncoder().encode(["key": Data(slashes)]).write(to: folder.path("state"))
    #expect(try PlainTextSearch(for: [slashes]).search(below: folder.url).leaks == ["state"])
  }

  @Test("A part or the reverse of a secret is not found")
  func noFalseAlarm() throws {
    try Data(secret.dropLast()).write(to: folder.path("shorter"))
    try Data(secret.reversed()).write(to: folder.path("reversed"))
    #expect(try PlainTextSearch(for: [secret]).search(below: folder.url).leaks.isEmpty)
  }
}
