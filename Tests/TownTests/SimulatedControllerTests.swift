// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Simulation
@testable import Town

@Suite("Simulated Bluetooth controller") struct SimulatedControllerTests {
  private let reset: [UInt8] = [1, 0x03, 0x0c, 0]
  private let address: [UInt8] = [1, 2, 3, 4, 5, 6]
  private let payload: [UInt8] = [0x02, 0x01, 0x1a]

  private var setAddress: [UInt8] { [1, 0x05, 0x20, 6] + address }
  private var setData: [UInt8] {
    [1, 0x08, 0x20, 32, 3] + payload + [UInt8](repeating: 0, count: 28)
  }
  private func advertise(_ isOn: UInt8) -> [UInt8] { [1, 0x0a, 0x20, 1, isOn] }
  private func scan(_ isOn: UInt8) -> [UInt8] { [1, 0x0c, 0x20, 2, isOn, 0] }
  private func complete(_ opcode: [UInt8], _ status: UInt8) -> [UInt8] {
    [4, 0x0e, 4, 1] + opcode + [status]
  }

  @Test("Commands are answered in order, wherever the bytes are cut")
  func cut() throws {
    let bytes = reset + setAddress + setData + advertise(1)
    var whole = SimulatedController()
    let expected = try #require(whole.handle(bytes) { [] })
    #expect(expected.change == .sends(ControllerBeacon(address: address, payload: payload)))
    for size in 1...8 {
      var controller = SimulatedController()
      var packets: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        let part = bytes[start..<min(start + size, bytes.count)]
        packets += try #require(controller.handle(part) { [] }).packets
      }
      #expect(packets == expected.packets)
    }
  }

  @Test("The address cannot change while a beacon is sent, or a scan is on")
  func disallowed() throws {
    for start in [setAddress + advertise(1), scan(1)] {
      var controller = SimulatedController()
      _ = controller.handle(reset + start) { [] }
      #expect(controller.handle(setAddress) { [] }?.packets == complete([0x05, 0x20], 0x0c))
      _ = controller.handle(reset) { [] }
      #expect(controller.handle(setAddress) { [] }?.packets == complete([0x05, 0x20], 0))
    }
  }

  @Test("An advertisement without an address is rejected, and a stopped one is not sent")
  func advertising() {
    var controller = SimulatedController()
    #expect(controller.handle(advertise(1)) { [] }?.packets == complete([0x0a, 0x20], 0x0c))
    _ = controller.handle(setAddress + setData + advertise(1)) { [] }
    #expect(controller.handle(advertise(0)) { [] }?.change == .sends(nil))
  }

  @Test("A scan reports what it receives when it starts, and nothing when it ends")
  func scanning() throws {
    let beacon = ControllerBeacon(address: address, payload: payload)
    let reception = SimulatedAir.Reception(sender: "ada", beacon: beacon, signalStrength: -60)
    var controller = SimulatedController()
    let effect = try #require(controller.handle(scan(1)) { [reception] })
    let report: [UInt8] = [4, 0x3e, 15, 2, 1, 3, 1] + address + [3] + payload + [0xc4]
    #expect(effect.packets == complete([0x0c, 0x20], 0) + report)
    #expect(controller.handle(scan(0)) { [reception] }?.packets == complete([0x0c, 0x20], 0))
  }

  @Test(
    "An unknown command is rejected, data of a wrong length too, and other bytes end the connection"
  )
  func malformed() {
    var controller = SimulatedController()
    #expect(controller.handle([1, 0x01, 0x04, 0]) { [] }?.packets == complete([0x01, 0x04], 1))
    let tooLong: [UInt8] = [1, 0x08, 0x20, 32, 32] + [UInt8](repeating: 0, count: 31)
    #expect(controller.handle(tooLong) { [] }?.packets == complete([0x08, 0x20], 0x12))
    #expect(controller.handle([0x47, 0x45, 0x54]) { [] } == nil)
  }
}
