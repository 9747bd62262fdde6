// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@testable import Bluetooth

/// Radios on the controllers of two other projects. The clock is the system's, but no result depends on it: short scans
/// are repeated until a beacon arrives.
@Suite("Virtual controllers", .needs(.controllers), .timeLimit(.minutes(Patience.minutes)))
struct VirtualControllerTests {
  @Test("Two radios on two controllers exchange beacons", arguments: VirtualControllers.allCases)
  func exchange(_ controllers: VirtualControllers) async throws {
    try await controllers.withRunning { ports in
      let phones = ports.map { RunningRadio(port: $0) }
      defer { for phone in phones { phone.stop() } }
      for (index, phone) in phones.enumerated() {
        try await phone.start(sending: try TestBeacons.advertisement(UInt8(index)))
      }
      for (index, phone) in phones.enumerated() {
        let other = try TestBeacons.advertisement(UInt8(1 - index))
        try await Patience.until { phone.heard.contains(other) }
        #expect(phone.heard == [other])
      }
      #expect(phones.map(\.failures) == [[], []])
    }
  }

  @Test(
    "Every identifier is received from exactly one address, that of its announcement",
    arguments: VirtualControllers.allCases)
  func rotation(_ controllers: VirtualControllers) async throws {
    try await controllers.withRunning { ports in
      let sender = RunningRadio(port: ports[0])
      let receiver = try await Sniffer(port: ports[1])
      defer { sender.stop() }
      defer { receiver.stop() }
      let beacons = try (1...4).map { try TestBeacons.advertisement($0) }
      for beacon in beacons {
        try await sender.start(sending: beacon)
        try await Patience.until { receiver.payloads.contains(beacon.payload) }
      }
      // The earlier beacon is no longer received.
      await sender.radio.stopAdvertising()
      let pairs = receiver.pairs
      #expect(pairs.map(\.payload) == beacons.map(\.payload))
      #expect(pairs.map(\.address) == sender.addresses)
      #expect(Set(sender.addresses).count == beacons.count)
    }
  }

  @Test(
    "After a lost connection the same identifier is sent from the same address, and scanning goes on",
    arguments: VirtualControllers.allCases)
  func recovery(_ controllers: VirtualControllers) async throws {
    try await controllers.withRunning { ports in
      let phone = RunningRadio(port: ports[0])
      let receiver = try await Sniffer(port: ports[1])
      defer { phone.stop() }
      defer { receiver.stop() }
      let beacon = try TestBeacons.advertisement(1)
      try await phone.start(sending: beacon)
      try await Patience.until { receiver.payloads.contains(beacon.payload) }
      let pairs = receiver.pairs
      phone.disconnect()
      try await Patience.until { phone.readyCount == 2 }
      receiver.forget()
      try await Patience.until { receiver.payloads.contains(beacon.payload) }
      #expect(receiver.pairs == pairs)
      #expect(phone.failures == [.disconnected])
      let scans = phone.scanCount
      try await Patience.until { phone.scanCount > scans }
      #expect(phone.scanCount > scans)
    }
  }

  @Test(
    "After a power failure of both controllers, two radios set them up again and meet again",
    arguments: VirtualControllers.allCases)
  func powerFailure(_ controllers: VirtualControllers) async throws {
    try await controllers.withPowerSwitch { ports, cutPower in
      let phones = ports.map { RunningRadio(port: $0) }
      defer { for phone in phones { phone.stop() } }
      let beacons = try (1...2).map { try TestBeacons.advertisement($0) }
      for (phone, beacon) in zip(phones, beacons) { try await phone.start(sending: beacon) }
      for (phone, beacon) in zip(phones, beacons.reversed()) {
        try await Patience.until { phone.heard == [beacon] }
        #expect(phone.heard == [beacon])
      }
      let readyCounts = phones.map(\.readyCount)
      cutPower()
      for (phone, readyCount) in zip(phones, readyCounts) {
        try await Patience.until {
          phone.failures.contains(.disconnected) && phone.readyCount > readyCount
        }
        #expect(phone.failures.contains(.disconnected))
        phone.forget()
      }
      for (phone, beacon) in zip(phones, beacons.reversed()) {
        try await Patience.until { !phone.heard.isEmpty }
        #expect(phone.heard == [beacon])
      }
    }
  }

  @Test(
    "After a radio ended, its controller sends nothing", arguments: VirtualControllers.allCases)
  func end(_ controllers: VirtualControllers) async throws {
    try await controllers.withRunning { ports in
      let (first, second) = (RunningRadio(port: ports[0]), RunningRadio(port: ports[1]))
      defer { second.stop() }
      try await first.start(sending: try TestBeacons.advertisement(1))
      try await second.start(sending: try TestBeacons.advertisement(2))
      try await Patience.until { !second.heard.isEmpty }
      #expect(!second.heard.isEmpty)
      await first.end()
      // The scan in which it ended may still have received it; the one after the next cannot.
      let scans = second.scanCount
      try await Patience.until { second.scanCount >= scans + 2 }
      second.forget()
      let later = second.scanCount
      try await Patience.until { second.scanCount >= later + 3 }
      #expect(second.scanCount >= later + 3)
      #expect(second.heard.isEmpty)
    }
  }
}

/// A radio on a virtual controller that scans all the time, and everything that it received.
private final class RunningRadio: Sendable {
  let radio: HCIRadio
  private let port: ObservedPort
  private let running: Task<Void, Never>
  private let scans = Mutex<[Scan]>([])
  private let events: Mutex<[HCIRadioEvent]>.Box

  init(port: UInt16) {
    let events = Mutex<[HCIRadioEvent]>.Box([])
    let observed = ObservedPort(address: .tcp(host: "127.0.0.1", port: port))
    let radio = HCIRadio(
      port: observed, clock: SystemClock(), machine: PatientClock(), randomness: SystemRandomness(),
      schedule: ScanSchedule(scanSeconds: 0.5, pauseMilliseconds: 0...0)
    ) { event in events.mutex.withLock { $0.append(event) } }
    self.events = events
    self.port = observed
    self.radio = radio
    running = Task { await radio.run() }
  }

  func start(sending beacon: Advertisement) async throws {
    try await Patience.until { await radio.isPoweredOn }
    await radio.listen { [self] scan in scans.withLock { $0.append(scan) } }
    await radio.advertise(beacon)
  }

  func stop() { running.cancel() }

  func end() async {
    running.cancel()
    await running.value
  }

  func disconnect() { port.disconnect() }
  func forget() { scans.withLock { $0 = $0.map { Scan(time: $0.time, sightings: []) } } }

  var scanCount: Int { scans.withLock { $0.count } }
  var heard: Set<Advertisement> {
    Set(scans.withLock { $0.flatMap(\.sightings).map(\.advertisement) })
  }
  var addresses: [String] {
    reported.compactMap { if case .advertising(_, let address) = $0 { address } else { nil } }
  }
  var failures: [BluetoothError] {
    reported.compactMap { if case .failed(let error, _) = $0 { error } else { nil } }
  }
  var readyCount: Int { reported.count { if case .ready = $0 { true } else { false } } }
  private var reported: [HCIRadioEvent] { events.mutex.withLock { $0 } }
}

/// The clock of the system with a longer timeout of commands: on a busy machine a controller may take longer than
/// `BluetoothLimit.commandSeconds`. It is shorter than the timeout of tests: a command that is lost with the power of a
/// controller is never answered, and the radio has to try again while the test waits.
private struct PatientClock: WallClock {
  private static let commandSeconds: TimeInterval = 20
  private let system = SystemClock()

  var now: Date { system.now }
  var reading: ClockReading { system.reading }

  func sleep(until deadline: Date) async throws { try await system.sleep(until: deadline) }

  func sleep(for seconds: TimeInterval) async throws {
    try await system.sleep(
      for: seconds == BluetoothLimit.commandSeconds ? Self.commandSeconds : seconds)
  }
}

extension Mutex where Value: Sendable {
  /// A mutex that closures can share.
  fileprivate final class Box: Sendable {
    let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }
  }
}

/// A port whose connection a test can end.
private final class ObservedPort: ControllerPort {
  private let address: RadioAddress
  private let stream = Mutex<(any ByteStream)?>(nil)

  init(address: RadioAddress) { self.address = address }

  func open() async throws(BluetoothError) -> any ByteStream {
    let opened = try await address.open()
    stream.withLock { $0 = opened }
    return opened
  }

  func disconnect() { stream.withLock { $0?.close() } }
}

/// A scanner that keeps the addresses of the senders, which the radio does not.
private final class Sniffer: Sendable {
  struct Pair: Hashable {
    let address: String
    let payload: [UInt8]
  }

  private let stream: any ByteStream
  private let found: Mutex<[Pair]>.Box
  private let reading: Task<Void, Never>

  init(port: UInt16) async throws {
    let stream = try await RadioAddress.tcp(host: "127.0.0.1", port: port).open()
    let found = Mutex<[Pair]>.Box([])
    let commands: [HCICommand] = [
      .reset, .setEventMask, .setLowEnergyEventMask, .setScanParameters, .setScan(enabled: true),
    ]
    self.stream = stream
    self.found = found
    reading = Task {
      var rest = commands[...]
      var parser = PacketParser()
      try? stream.send(rest.removeFirst().packet)
      for await bytes in stream.received {
        for event in parser.events(in: bytes) {
          if case .commandComplete = event, let next = rest.popFirst() {
            try? stream.send(next.packet)
          }
          Self.add(event, to: found)
        }
      }
    }
  }

  func stop() { stream.close() }
  func forget() { found.mutex.withLock { $0 = [] } }

  /// Each pair of an address and a payload, in the order of its first reception.
  var pairs: [Pair] { found.mutex.withLock { $0 } }
  var payloads: [[UInt8]] { pairs.map(\.payload) }

  private static func add(_ event: HCIEvent, to found: Mutex<[Pair]>.Box) {
    guard case .advertisingReports(let content) = event else { return }
    for report in AdvertisingReports(content: content).reports {
      let address = report.address.reversed().map { String(format: "%02x", $0) }
      let pair = Pair(address: address.joined(separator: ":"), payload: report.payload)
      found.mutex.withLock { if !$0.contains(pair) { $0.append(pair) } }
    }
  }
}
