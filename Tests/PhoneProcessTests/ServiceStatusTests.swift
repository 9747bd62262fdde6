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

  /// Runs the phone while `body` runs.
  private func running(
    isBluetoothOn: Bool = true, _ body: (Phone) async throws -> Void
  ) async throws {
    let phone = try scene.phone(
      radio: DeveloperRadio(NoRadio(isPoweredOn: isBluetoothOn), clock: scene.clock))
    let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      defer { isReady.finish() }
      try await phone.run { isReady.finish() }
    }
    for await _ in ready {}
    let result: Result<Void, any Error>
    do { result = .success(try await body(phone)) } catch { result = .failure(error) }
    running.cancel()
    // The cancellation is not the failure of the test.
    try? await running.value
    try result.get()
  }

  /// The phone, for a command while it does not run.
  private func stopped() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  @Test("It is that of the framework in each of its states while the phone runs, and off otherwise")
  func statuses() async throws {
    try await running { (phone) async throws in
      #expect(phone.device.status == .disabled)
      #expect(try await service(of: phone) == "off")
      #expect(try await phone.facts(.enable).status == .done)
      #expect(phone.device.status == .active)
      #expect(try await service(of: phone) == "on")
    }
    var stopped = try await self.stopped()
    #expect(try await service(of: stopped) == "off")
    // The radio of the phone is on only for the owner's eye: nothing is sent.
    try await running(isBluetoothOn: false) { (phone) async throws in
      #expect(phone.device.status == .bluetoothOff)
      #expect(try await service(of: phone) == "off")
    }
    try await running { (phone) async throws in
      #expect(try await service(of: phone) == "on")
      try await phone.device.setRestrictedInSettings(true)
      #expect(phone.device.status == .restricted)
      #expect(try await service(of: phone) == "restricted")
    }
    stopped = try await self.stopped()
    #expect(try await service(of: stopped) == "restricted")
    try await running { (phone) async throws in
      #expect(try await service(of: phone) == "restricted")
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
}
