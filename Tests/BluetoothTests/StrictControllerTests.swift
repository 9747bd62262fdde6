// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite(
  "HCI radio with a controller that rejects commands without effect",
  .timeLimit(.minutes(Patience.minutes)))
struct StrictControllerTests {
  private let test = RadioUnderTest()
  private var controller: FakeController { test.controller }
  private var radio: HCIRadio { test.radio }

  init() {
    controller.change { $0.isStrict = true }
  }

  @Test("The controller is set up once, and its scans are passed on")
  func scans() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      await test.listen()
      for _ in 1...3 {
        controller.deliver(Event.reports([Event.report(beacon.payload)]))
        try await test.endScan()
        try await test.endPause()
      }
      #expect(test.scans.map(\.sightings.count) == [1, 1, 1])
      #expect(controller.state.isAdvertising)
      #expect(test.failures == [])
      #expect(controller.state.openCount == 1)
    }
  }

  @Test("Beacons change during a scan and during a pause, and scanning stops and starts twice")
  func changes() async throws {
    try await test.runReady {
      for number in 1...2 {
        await test.listen()
        await radio.advertise(try TestBeacons.advertisement(UInt8(2 * number)))
        try await test.endScan()
        await radio.advertise(try TestBeacons.advertisement(UInt8(2 * number + 1)))
        await radio.stopListening()
        await radio.stopAdvertising()
        #expect(!controller.state.isScanning)
        #expect(!controller.state.isAdvertising)
      }
      #expect(controller.state.sent.count >= 4)
      #expect(controller.state.violations == [])
      #expect(test.failures == [])
    }
  }

  @Test("\"Scan off\" is sent only while the controller may scan")
  func scanOff() async throws {
    try await test.runReady {
      let before = controller.state.commands.count
      await test.listen()
      try await test.endScan()
      await radio.stopListening()
      let off = FakeController.HCICommandBytes(opcode: 0x200c, parameters: [0, 0])
      #expect(controller.state.commands.dropFirst(before).count { $0 == off } == 1)
    }
  }

  /// State of the controller that the host does not know.
  enum Surprise: CaseIterable {
    case restartInScan, restartInPause, advertising, scanning
  }

  @Test(
    "A controller in an unexpected state is brought into the wanted one",
    arguments: Surprise.allCases)
  func surprise(_ surprise: Surprise) async throws {
    try await test.runReady {
      await radio.advertise(try TestBeacons.advertisement(1))
      if surprise == .advertising {
        await radio.stopAdvertising()
        controller.change { $0.isAdvertising = true }
      }
      await test.listen()
      if surprise == .restartInScan { controller.forgetState() }
      try await test.endScan()
      if surprise == .restartInPause { controller.forgetState() }
      if surprise == .scanning { controller.change { $0.isScanning = true } }
      await radio.advertise(try TestBeacons.advertisement(2))
      try await test.endPause()
      #expect(controller.state.isScanning)
      #expect(controller.state.sent.last?.payload == (try TestBeacons.advertisement(2)).payload)
      #expect(controller.state.isAdvertising)
      #expect(controller.state.violations == [])
      #expect(test.failures == [])
    }
  }
}
