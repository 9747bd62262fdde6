// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

@testable import PhoneProcess

@Suite("The service of exposure notifications in the state of a phone")
struct ServiceStatusTests {
  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  private func service(of phone: Phone) async throws -> String? {
    try await phone.facts(.status).json["service"] as? String
  }

  /// The phone, started again.
  private func started(isBluetoothOn: Bool = true) async throws -> Phone {
    let phone = try scene.phone(
      radio: DeveloperRadio(NoRadio(isPoweredOn: isBluetoothOn), clock: scene.clock))
    await phone.start()
    return phone
  }

  @Test("It is that of the framework in each of its states, also after a restart")
  func statuses() async throws {
    let phone = try await started()
    #expect(phone.device.status == .disabled)
    #expect(try await service(of: phone) == "off")
    #expect(try await phone.facts(.enable).status == .done)
    #expect(phone.device.status == .active)
    for phone in [phone, try await started()] { #expect(try await service(of: phone) == "on") }
    // The radio of the phone is on only for the owner's eye: nothing is sent.
    let withoutBluetooth = try await started(isBluetoothOn: false)
    #expect(withoutBluetooth.device.status == .bluetoothOff)
    #expect(try await service(of: withoutBluetooth) == "off")
    try await phone.device.setRestrictedInSettings(true)
    #expect(phone.device.status == .restricted)
    for phone in [phone, try await started()] {
      #expect(try await service(of: phone) == "restricted")
    }
    try await phone.device.setRestrictedInSettings(false)
    try await phone.device.setAuthorizedInSettings(false)
    #expect(phone.device.status == .unauthorized)
    #expect(try await service(of: phone) == "off")
    try await phone.device.setAuthorizedInSettings(true)
    #expect(try await phone.facts(.enable).status == .done)
    #expect(try await service(of: phone) == "on")
    #expect(try await phone.facts(.disable).status == .done)
    #expect(phone.device.status == .disabled)
    #expect(try await service(of: phone) == "off")
  }
}
