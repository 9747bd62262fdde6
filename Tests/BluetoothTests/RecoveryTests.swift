// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import Bluetooth

@Suite("Recovery of the HCI radio", .timeLimit(.minutes(Patience.minutes)))
struct RecoveryTests {
  private let test = RadioUnderTest()
  private var controller: FakeController { test.controller }
  private var radio: HCIRadio { test.radio }

  /// A way in which a controller fails.
  enum Failure: CaseIterable {
    case hangUp, powerLoss, hardwareError, restart, noise, noAnswer, rejection

    var error: BluetoothError {
      switch self {
      case .hangUp, .powerLoss: .disconnected
      case .hardwareError: .hardwareError(7)
      case .restart: .restarted
      case .noise: .notHCI
      case .noAnswer: .noAnswer("LE Set Scan Enable")
      case .rejection: .rejected("LE Set Scan Enable", status: 0x1f)
      }
    }
  }

  private func cause(_ failure: Failure) async throws {
    switch failure {
    case .hangUp: controller.disconnect()
    case .powerLoss: controller.losePower()
    case .hardwareError: controller.deliver(Event.hardwareError(7))
    case .restart:
      controller.forgetState()
      controller.deliver(Event.commandComplete(0x0c03))
    case .noise:
      controller.deliver([UInt8](repeating: 0x55, count: BluetoothLimit.skippedBytesMax + 1))
    case .noAnswer:
      controller.change { $0.silent = [0x200c] }
      let count = controller.opcodes.count
      async let stop: Void = radio.stopListening()
      try await Patience.until { controller.opcodes.count > count }
      try await test.passTime(BluetoothLimit.commandSeconds)
      await stop
      controller.change { $0.silent = [] }
    case .rejection:
      controller.change { $0.rejections = [0x200c: 0x1f] }
      await radio.stopListening()
      controller.change { $0.rejections = [:] }
    }
  }

  @Test(
    "After a failure the controller is set up again, with the same identifier from the same address",
    arguments: Failure.allCases)
  func recovery(_ failure: Failure) async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      await test.listen()
      let before = try #require(controller.state.sent.last)
      try await cause(failure)
      try await Patience.until { test.failures.count == 1 }
      #expect(test.failures == [failure.error])
      #expect(!(await radio.isPoweredOn))
      await test.listen()
      try await test.passTime(BluetoothLimit.firstRetrySeconds)
      try await Patience.until { test.readyCount == 2 }
      await test.listen()
      let after = try #require(controller.state.sent.last)
      #expect(after == before)
      #expect(controller.state.isAdvertising)
      #expect(controller.state.isScanning)
      #expect(controller.state.violations == [])
      controller.deliver(Event.reports([Event.report(beacon.payload)]))
      try await test.endScan()
      #expect(test.scans.last?.sightings.count == 1)
    }
  }

  @Test("A controller that restarts without notice works again from the next scan on")
  func silentRestart() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await radio.advertise(beacon)
      await test.listen()
      let before = try #require(controller.state.sent.last)
      try await test.endScan()
      controller.forgetState()
      let commands = controller.opcodes.count
      try await test.endPause()
      #expect(controller.state.isAdvertising)
      #expect(controller.state.sent.last == before)
      #expect(controller.opcodes.dropFirst(commands).starts(with: [0x0c01, 0x2001]))
      #expect(test.failures.isEmpty)
    }
  }

  @Test("A scan that a failure cuts short is passed on if it received a beacon")
  func cutScan() async throws {
    let beacon = try TestBeacons.advertisement(1)
    try await test.runReady {
      await test.listen()
      controller.disconnect()
      try await Patience.until { test.failures.count == 1 }
      #expect(test.scans.isEmpty)
      try await test.passTime(BluetoothLimit.firstRetrySeconds)
      try await Patience.until { test.readyCount == 2 }
      await test.listen()
      controller.deliver(Event.reports([Event.report(beacon.payload)]))
      controller.disconnect()
      try await Patience.until { test.scans.count == 1 }
      #expect(test.scans.map(\.sightings.count) == [1])
    }
  }

  @Test(
    "The delay before the next attempt doubles up to the limit, and starts over after a success")
  func backoff() async throws {
    controller.change { $0.isReachable = false }
    try await test.run {
      let delays: [TimeInterval] = [1, 2, 4, 8, 16, 32, 60, 60]
      for (index, delay) in delays.enumerated() {
        try await Patience.until { test.retrySeconds.count == index + 1 }
        #expect(test.retrySeconds.last == delay)
        if index == delays.count - 1 { controller.change { $0.isReachable = true } }
        try await test.passTime(delay)
      }
      try await Patience.until { test.readyCount == 1 }
      controller.disconnect()
      try await Patience.until { test.retrySeconds.count == delays.count + 1 }
      #expect(test.retrySeconds.last == BluetoothLimit.firstRetrySeconds)
    }
  }

  @Test("Advertising and scanning that are requested without a controller start when one is opened")
  func early() async throws {
    controller.change { $0.isReachable = false }
    let beacon = try TestBeacons.advertisement(1)
    try await test.run {
      try await Patience.until { test.failures.count == 1 }
      await radio.advertise(beacon)
      await test.listen()
      controller.change { $0.isReachable = true }
      try await test.passTime(BluetoothLimit.firstRetrySeconds)
      try await Patience.until { controller.state.isScanning }
      #expect(controller.state.sent.map(\.payload).last == beacon.payload)
    }
  }

  @Test("A controller that never answers fails after the time for one command")
  func silence() async throws {
    controller.change { $0.silent = [0x0c03] }
    try await test.run {
      try await test.passTime(BluetoothLimit.commandSeconds - 0.001)
      #expect(test.failures.isEmpty)
      try await test.passTime(0.001)
      try await Patience.until { test.failures.count == 1 }
      #expect(test.failures == [.noAnswer("Reset")])
    }
  }

  @Test("A controller without Low Energy is reported")
  func withoutLowEnergy() async throws {
    controller.change { $0.results[0x1003] = [0, 0xff, 0xff, 0xff, 0xff, 0b1011_1111, 0, 0, 0] }
    try await test.run {
      try await Patience.until { test.failures.count == 1 }
      #expect(test.failures == [.withoutLowEnergy])
    }
  }

  @Test("A controller that does not know its transmit power is used without it")
  func optionalCommand() async throws {
    controller.change { $0.rejections[0x2007] = 0x01 }
    try await test.runReady { #expect(test.failures.isEmpty) }
  }

  @Test("Without credits no command is sent until the controller gives some")
  func credits() async throws {
    controller.change { $0.credits = 0 }
    try await test.run {
      for opcode: UInt16 in [0x0c03, 0x1001, 0x1003] {
        try await Patience.until { controller.opcodes.last == opcode }
        controller.grant(credits: 1)
      }
      try await Patience.until { controller.opcodes.last == 0x0c01 }
      controller.change { $0.credits = 1 }
      controller.grant(credits: 1)
      try await Patience.until { await radio.isPoweredOn }
      #expect(controller.state.violations == [])
    }
  }

  @Test("Noise up to the limit is tolerated")
  func toleratedNoise() async throws {
    try await test.runReady {
      controller.deliver([UInt8](repeating: 0x55, count: BluetoothLimit.skippedBytesMax))
      await radio.advertise(try TestBeacons.advertisement(1))
      #expect(controller.state.isAdvertising)
      #expect(test.failures.isEmpty)
    }
  }

  @Test("Unknown events and results of other commands are ignored")
  func unknownEvents() async throws {
    try await test.runReady {
      controller.deliver(Event.event(0xff, [1, 2, 3]) + Event.event(0x3e, [0x0d, 1]))
      controller.deliver(Event.commandComplete(0x1009, [0, 1, 2, 3, 4, 5, 6]))
      controller.deliver(Event.commandStatus(0x0406, status: 0))
      await radio.advertise(try TestBeacons.advertisement(1))
      #expect(controller.state.isAdvertising)
      #expect(test.failures.isEmpty)
    }
  }
}
