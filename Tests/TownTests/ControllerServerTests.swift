// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import ExposureKeys
import Foundation
import Populations
import Simulation
import Synchronization
import TestSupport
import Testing
import World

@testable import Town

/// The HCI code of phones on the controllers of a town. No result depends on time: short scans are repeated.
@Suite("Controllers of a town", .timeLimit(.minutes(Patience.minutes)))
struct ControllerServerTests {
  private let air = SimulatedAir<ControllerBeacon>(
    randomness: SeededRandomness(seed: 1, name: "air"), calibration: .unknownModel)
  private let received = ReceptionLog { Date(timeIntervalSince1970: 0) }

  @Test(
    "Phones within range receive each other, those out of range do not, and moving changes that")
  func range() async throws {
    for (name, x) in [("ada", 0.0), ("ben", 2), ("cleo", 10 * TownMap.rangeMetres)] {
      air.move(name, to: .init(x: x, y: 0))
    }
    let server = try await ControllerServer(for: ["ada", "ben", "cleo"], on: air, noting: received)
    let serving = Task { try await server.run() }
    defer { serving.cancel() }
    let phones = try server.addresses.mapValues { try TownRadio(at: $0) }
    defer { for phone in phones.values { phone.stop() } }
    for (index, name) in ["ada", "ben", "cleo"].enumerated() {
      try await phones[name]?.start(sending: UInt8(index))
    }
    let (ada, ben, cleo) = (
      try #require(phones["ada"]), try #require(phones["ben"]),
      try #require(phones["cleo"])
    )
    try await Patience.until { ada.heard == [1] && ben.heard == [0] }
    let scans = cleo.scanCount
    try await Patience.until { cleo.scanCount > scans + 2 }
    #expect(cleo.heard.isEmpty)
    air.move("cleo", to: .init(x: 1, y: 1))
    try await Patience.until { cleo.heard == [0, 1] }
    #expect(cleo.heard == [0, 1])
    #expect(received.receivingScans["cleo"] ?? 0 > 0)
  }

  @Test("A phone that ends is no longer received")
  func end() async throws {
    for name in ["ada", "ben"] { air.move(name, to: .init(x: 0, y: 0)) }
    let server = try await ControllerServer(for: ["ada", "ben"], on: air, noting: received)
    let serving = Task { try await server.run() }
    defer { serving.cancel() }
    let phones = try server.addresses.mapValues { try TownRadio(at: $0) }
    defer { for phone in phones.values { phone.stop() } }
    for (index, name) in ["ada", "ben"].enumerated() {
      try await phones[name]?.start(sending: UInt8(index))
    }
    try await Patience.until { air.senders == ["ada", "ben"] }
    phones["ada"]?.stop()
    try await Patience.until { air.senders == ["ben"] }
    #expect(air.senders == ["ben"])
  }

  @Test("A phone that reconnects does not receive the same strengths again")
  func reconnection() async throws {
    for name in ["ada", "ben"] { air.move(name, to: .init(x: 0, y: 0)) }
    let server = try await ControllerServer(for: ["ada", "ben"], on: air, noting: received)
    let serving = Task { try await server.run() }
    defer { serving.cancel() }
    let ada = try TownRadio(at: try #require(server.addresses["ada"]))
    defer { ada.stop() }
    try await ada.start(sending: 0)
    try await Patience.until { air.senders.contains("ada") }
    var strengths: [[Int8]] = []
    for _ in 1...2 {
      let ben = try TownRadio(at: try #require(server.addresses["ben"]))
      defer { ben.stop() }
      try await ben.start(sending: 1)
      try await Patience.until { ben.strengths.count >= 12 }
      strengths.append(Array(ben.strengths.prefix(12)))
    }
    #expect(strengths[0] != strengths[1])
  }

  @Test("At 600 times the speed of real time, phones receive each other in scans of four seconds")
  func fast() async throws {
    let folder = try TemporaryFolder()
    let writer = try RehearsalClockFile(at: folder.path("clock"), startingAt: Date())
    try writer.run(at: 600)
    let renewing = Task { try await writer.run() }
    defer { renewing.cancel() }
    for name in ["ada", "ben"] { air.move(name, to: .init(x: 0, y: 0)) }
    let server = try await ControllerServer(for: ["ada", "ben"], on: air, noting: received)
    let serving = Task { try await server.run() }
    defer { serving.cancel() }
    let clock = SimulatedClock(following: try RehearsalTime(file: folder.path("clock")))
    let phones = try server.addresses.mapValues { try TownRadio(at: $0, clock: clock) }
    defer { for phone in phones.values { phone.stop() } }
    for (index, name) in ["ada", "ben"].enumerated() {
      try await phones[name]?.start(sending: UInt8(index))
    }
    try await Patience.until { phones["ada"]?.heard == [1] && phones["ben"]?.heard == [0] }
    #expect(phones["ada"]?.heard == [1] && phones["ben"]?.heard == [0])
  }

  @Test("The range of the model is some metres, and nothing is received beyond it")
  func model() {
    #expect((5...50).contains(TownMap.rangeMetres))
    let model = AirModel()
    var generator = StreamGenerator(seed: 2)
    for _ in 0..<100 {
      let calibration = Calibration.unknownModel
      #expect(model.signalStrength(at: 1, from: calibration, &generator) != nil)
      let beyond = TownMap.rangeMetres + 0.1
      #expect(model.signalStrength(at: beyond, from: calibration, &generator) == nil)
    }
  }
}

/// A radio of a phone that scans all the time, and the numbers of the beacons that it received.
private final class TownRadio: Sendable {
  private let radio: HCIRadio
  private let running: Task<Void, Never>
  private let scans = Mutex<[Scan]>([])

  init(at address: String, clock: any WallClock = SystemClock()) throws {
    let schedule =
      clock is SystemClock ? ScanSchedule(scanSeconds: 0.1, pauseMilliseconds: 0...0) : .phone
    let radio = HCIRadio(
      try RadioAddress(address), clock: clock, machine: SystemClock(), schedule: schedule)
    self.radio = radio
    running = Task { await radio.run() }
  }

  func start(sending number: UInt8) async throws {
    try await Patience.until { await radio.isPoweredOn }
    await radio.listen { [self] scan in scans.withLock { $0.append(scan) } }
    await radio.advertise(try Self.advertisement(number))
  }

  func stop() { running.cancel() }

  var scanCount: Int { scans.withLock { $0.count } }

  var heard: Set<UInt8> {
    Set(scans.withLock { $0.flatMap(\.sightings).map { $0.advertisement.identifier.bytes[0] } })
  }

  /// The strengths of all receptions, in their order.
  var strengths: [Int8] { scans.withLock { $0.flatMap(\.sightings).map(\.signalStrength) } }

  private static func advertisement(_ number: UInt8) throws -> Advertisement {
    // Flags, the service 0xFD6F, and its data: an identifier and the encrypted metadata.
    let payload: [UInt8] =
      [0x02, 0x01, 0x1a, 0x03, 0x03, 0x6f, 0xfd, 0x17, 0x16, 0x6f, 0xfd]
      + [UInt8](repeating: number, count: 16) + [1, 2, 3, 4]
    return try #require(Advertisement(payload: payload))
  }
}
