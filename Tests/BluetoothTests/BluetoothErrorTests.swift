// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Testing

@Suite("Errors of the controller")
struct BluetoothErrorTests {
  @Test("Each error has a code, and its details are in its description")
  func details() {
    let rejection = BluetoothError.rejected("Reset", status: 12)
    #expect(rejection.code == .rejected)
    #expect(rejection.command == "Reset" && rejection.status == 12)
    #expect(rejection.description.contains("Reset with status 12"))
    #expect(rejection != .rejected("Reset", status: 13))
    #expect(BluetoothError.hardwareError(7).status == 7)
    #expect(BluetoothError.noAnswer("Reset").command == "Reset")
    #expect(BluetoothError.unavailable("switch it on").description == "switch it on")
    let all: [BluetoothError] = [
      .unavailable("a"), .disconnected, .noAnswer("b"), rejection, .hardwareError(7), .restarted,
      .notHCI, .withoutLowEnergy, .stopped,
    ]
    #expect(Set(all.map(\.code)).count == all.count)
    #expect(Set(all.map(\.description)).count == all.count)
    #expect("\(BluetoothError.stopped.code)" == "stopped")
  }
}
