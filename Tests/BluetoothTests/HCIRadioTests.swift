// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite("HCI radio", .timeLimit(.minutes(Patience.minutes)))
struct HCIRadioTests {
  private let test = RadioUnderTest()
  private var controller: FakeController { test.controller }
  private var radio: HCIRadio { test.radio }

  @Test("The controller is reset and described, and nothing is sent")
  func start() async throws {
    try await test.runReady {
      #expect(controller.opcodes.first == 0x0c03)
      #expect(controller.state.sent.isEmpty)
      #expect(!controller.state.isScanning)
      let controllers = test.events.compactMap {
        if case .ready(let controller) = $0 { controller } else { nil }
      }
      #expect(controllers.map(\.version) == [9])
      #expect(controllers.map(\.manufacturer) == [0x5f])
      #expect(controllers.map(\.transmitPower) == [-7])
    }
  }

  @Test("A controller that still advertises after its reset is told to stop")
  func oldState() async throws {
    controller.change { $0.isAdvertising = true }
    controller.change { $0.results[0x0c03] = [0, 0] }
    try await test.runReady { #expect(!controller.state.isAdvertising) }
  }

  @Test("Identifier and address change together while nothing is sent")
  func rotation() async throws {
    let beacons = try (1...5).map { try TestBeacons.advertisement($0) }
    try await test.runReady {
      for beacon in beacons {
        let before = controller.opcodes.count
        await radio.advertise(beacon)
        #expect(
          controller.opcodes.dropFirst(before) == [0x200a, 0x2006, 0x2005, 0x2008, 0x200a])
      }
      let sent = controller.state.sent
      #expect(sent.map(\.payload) == beacons.map(\.payload))
      #expect(Set(sent.map(\.address)).count == beacons.count)
      #expect(sent.allSatisfy { $0.address[5] < 0b0100_0000 })
      #expect(controller.state.violations == [])
    }
  }

  @Test("A change during a scan interrupts the scan, which keeps its beacons")
  func rotationWhileScanning() async throws {
    let beacons = try (1...3).map { try TestBeacons.advertisement($0) }
    try await test.runReady {
      await test.listen()
      for beacon in beacons {
        controller.deliver(Event.reports([Event.report(beacon.payload)]))
        await radio.advertise(beacon)
        #expect(controller.state.isScanning)
      }
      try await test.endScan()
      #expect(test.scans.map(\.sightings.count) == [3])
      #expect(controller.state.sent.map(\.payload) == beacons.map(\.payload))
      #expect(test.failures == [])
    }
  }

  @Test("Advertising the same identifier again keeps its address")
  func sameBeacon() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      let commands = controller.opcodes.count
      await radio.advertise(beacon)
      #expect(controller.opcodes.count == commands)
    }
  }

  @Test("Stopping ends advertising before it returns")
  func stop() async throws {
    try await test.runReady {
      await radio.advertise(try TestBeacons.advertisement(1))
      #expect(controller.state.isAdvertising)
      await radio.stopAdvertising()
      #expect(!controller.state.isAdvertising)
    }
  }

  @Test("An identifier that is sent again after a stop keeps its address")
  func stopAndStart() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      await radio.stopAdvertising()
      await radio.advertise(beacon)
      #expect(controller.state.sent.count == 2)
      #expect(Set(controller.state.sent.map(\.address)).count == 1)
    }
  }

  @Test("Each address is reported once, with its identifier")
  func reports() async throws {
    try await test.runReady {
      await radio.advertise(try TestBeacons.advertisement(1))
      await test.listen()
      let reported = test.events.compactMap {
        if case .advertising(let beacon, let address) = $0 { (beacon, address) } else { nil }
      }
      #expect(reported.map(\.0) == [try TestBeacons.advertisement(1)])
      let bytes = controller.state.sent.last?.address.reversed().map { String(format: "%02x", $0) }
      #expect(reported.map(\.1) == [bytes?.joined(separator: ":")])
    }
  }

  @Test("A scan passes on its beacons with time and strength, and an empty scan is passed on too")
  func scans() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await test.listen()
      controller.deliver(
        Event.reports([
          Event.report(beacon.payload, strength: -50), Event.report([2, 1, 6]),
          Event.report(beacon.payload, strength: -70),
        ]))
      try await settle()
      try await test.endScan()
      try await test.endPause()
      try await test.endScan()
      let start = RadioUnderTest.start
      let strengths: [Int8] = [-50, -70]
      #expect(
        test.scans == [
          Scan(
            time: start,
            sightings: strengths.map {
              Sighting(advertisement: beacon, time: start, signalStrength: $0)
            }), Scan(time: start + 300, sightings: []),
        ])
    }
  }

  @Test("Malformed reports are dropped and reported, and the scan goes on")
  func malformedReports() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await test.listen()
      controller.deliver(Event.event(0x3e, [2, 9, 9, 9]))
      controller.deliver(Event.reports([Event.report(beacon.payload)]))
      try await settle()
      try await test.endScan()
      #expect(test.scans.map(\.sightings.count) == [1])
      let discarded = test.events.compactMap {
        if case .discarded(let reports, _) = $0 { reports } else { nil }
      }
      #expect(discarded == [9])
    }
  }

  @Test("Bytes that arrive one by one change nothing")
  func fragments() async throws {
    controller.change { $0.chunkByteCount = 1 }
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await test.listen()
      controller.deliver(Event.reports([Event.report(beacon.payload)]))
      try await settle()
      try await test.endScan()
      #expect(test.scans.map(\.sightings.count) == [1])
    }
  }

  @Test("Nothing is scanned unless a receiver listens")
  func stopListening() async throws {
    try await test.runReady {
      await test.listen()
      #expect(controller.state.isScanning)
      await radio.stopListening()
      #expect(!controller.state.isScanning)
      await test.listen()
      #expect(controller.state.isScanning)
      #expect(test.scans.isEmpty)
    }
  }

  @Test("If storing takes longer than scanning, scans above the limit are discarded and reported")
  func slowReceiver() async throws {
    let (open, gate) = AsyncStream.makeStream(of: Void.self)
    let test = RadioUnderTest(
      schedule: ScanSchedule(scanSeconds: 4, pauseMilliseconds: 1_000...1_000))
    try await test.runReady {
      await test.radio.listen { _ in for await _ in open {} }
      // One is being stored, and then the queue fills up.
      for _ in 0..<(BluetoothLimit.waitingScansMax + 2) {
        try await test.passTime(4)
        try await Patience.until { !test.controller.state.isScanning }
        await test.radio.stopAdvertising()
        try await test.passTime(1)
        try await Patience.until { test.controller.state.isScanning }
        await test.radio.stopAdvertising()
      }
      let discarded = test.events.count { if case .scanDiscarded = $0 { true } else { false } }
      #expect(discarded == 1)
      gate.finish()
    }
  }

  @Test("At the end the controller is turned off and the scan in progress is passed on")
  func end() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      await test.listen()
      controller.deliver(Event.reports([Event.report(beacon.payload)]))
      try await settle()
    }
    #expect(!controller.state.isAdvertising)
    #expect(controller.opcodes.last == 0x0c03)
    #expect(test.scans.map(\.sightings.count) == [1])
    #expect(!(await radio.isPoweredOn))
  }

  /// Returns when the radio has received everything that was delivered: an event follows it, and then
  /// the result of a command.
  private func settle() async throws {
    await radio.advertise(try TestBeacons.advertisement(99))
  }
}
