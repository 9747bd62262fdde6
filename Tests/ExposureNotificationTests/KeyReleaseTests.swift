// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct KeyReleaseTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  /// The number of keys in each call of the handler.
  final class Received: Sendable {
    let counts = Mutex<[Int]>([])
  }

  private func manager(of device: Device? = nil) async throws -> (ENManager, Received) {
    let manager = try await phone.enabledManager(of: device)
    let received = Received()
    manager.diagnosisKeysAvailableHandler = { keys in
      received.counts.withLock { $0.append(keys.count) }
    }
    return (manager, received)
  }

  @Test(
    "Pre-authorized keys are released once within four days without a prompt, with a notice")
  func once() async throws {
    let device = phone.device()
    let (manager, received) = try await manager(of: device)
    try await manager.preAuthorizeDiagnosisKeys()
    await phone.run(device, days: 4)
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [5])
    #expect(phone.user.notices == [.preAuthorizedKeysReleased])
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [5, 0])
    #expect(phone.user.notices.count == 1)
    #expect(phone.user.requests == [.enableExposureNotification, .preAuthorizeDiagnosisKeys])
  }

  @Test("Pre-authorization and its use are stored over a restart")
  func restart() async throws {
    try await manager().0.preAuthorizeDiagnosisKeys()
    let (second, received) = try await manager()
    try await second.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [1])
    let (third, later) = try await manager()
    try await third.requestPreAuthorizedDiagnosisKeys()
    #expect(later.counts.withLock { $0 } == [0])
    try await third.preAuthorizeDiagnosisKeys()
    try await third.requestPreAuthorizedDiagnosisKeys()
    #expect(later.counts.withLock { $0.count == 2 && $0[1] > 0 })
  }

  @Test("After five days, after a refusal and without consent no keys are released")
  func notAuthorized() async throws {
    let (manager, received) = try await manager()
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await manager.preAuthorizeDiagnosisKeys()
    phone.clock.advance(by: 5 * 86_400 + 1)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await manager.preAuthorizeDiagnosisKeys()
    phone.user.decides(false)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.preAuthorizeDiagnosisKeys()
    }
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    #expect(received.counts.withLock { $0.isEmpty })
  }

  @Test("Pre-authorization is valid from the moment it is given for exactly five days")
  func limits() {
    let preAuthorization = PreAuthorization(given: TestPhone.noon)
    let end = TestPhone.noon + 5 * 86_400
    #expect([end - 1, end, end + 1].map(preAuthorization.isValid) == [true, true, false])
    #expect([TestPhone.noon - 1, TestPhone.noon].map(preAuthorization.isValid) == [false, true])
  }

  @Test("Without a handler for the keys the request is misuse and does not use the consent")
  func noHandler() async throws {
    let (manager, received) = try await manager()
    try await manager.preAuthorizeDiagnosisKeys()
    let handler = manager.diagnosisKeysAvailableHandler
    manager.diagnosisKeysAvailableHandler = nil
    let error = await #expect(throws: ENError.self) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    #expect(error?.code == .apiMisuse)
    #expect(error?.localizedDescription.contains("diagnosisKeysAvailableHandler") == true)
    manager.diagnosisKeysAvailableHandler = handler
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [1])
  }

  @Test("No keys are released if turned off, not authorized, or after removing all data")
  func takenBack() async throws {
    let device = phone.device()
    let (manager, _) = try await manager(of: device)
    try await manager.preAuthorizeDiagnosisKeys()
    try await manager.setExposureNotificationEnabled(false)
    await #expect(throws: ENError(.notEnabled)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await device.setAuthorizedInSettings(false)
    try await device.setAuthorizedInSettings(true)
    try await manager.setExposureNotificationEnabled(true)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await manager.preAuthorizeDiagnosisKeys()
    try await device.removeAllData()
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
  }

  @Test("A release without any key leaves the pre-authorization unused")
  func nothingYet() async throws {
    var phone = phone
    phone.apiVersion = 1
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    let received = Received()
    manager.diagnosisKeysAvailableHandler = { keys in
      received.counts.withLock { $0.append(keys.count) }
    }
    try await manager.preAuthorizeDiagnosisKeys()
    try await manager.requestPreAuthorizedDiagnosisKeys()
    await phone.run(device, days: 1)
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [0, 1])
  }

  @Test("Two concurrent requests release the keys once")
  func atOnce() async throws {
    let device = phone.device()
    let (manager, _) = try await manager(of: device)
    try await manager.preAuthorizeDiagnosisKeys()
    async let first = device.releasePreAuthorizedKeys().count
    async let second = device.releasePreAuthorizedKeys().count
    #expect(try await [first, second].sorted() == [0, 1])
  }

  @Test("With the test entitlement version 1 returns today's key, shortened, after a prompt")
  func today() async throws {
    var phone = phone
    phone.apiVersion = 1
    phone.entitlements = [.exposureNotification, .test]
    let manager = try await phone.enabledManager()
    #expect(try await manager.diagnosisKeys().isEmpty)
    let sent = phone.radio.sent.count
    #expect(try await manager.testDiagnosisKeys().map(\.rollingPeriod) == [72])
    #expect(phone.radio.sent.count == sent + 1)
    #expect(phone.user.requests.suffix(2) == [.shareDiagnosisKeys, .shareDiagnosisKeys])
    phone.user.decides(false)
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager.testDiagnosisKeys() }
  }

  @Test("Without the test entitlement the user is not asked")
  func notEntitled() async throws {
    let manager = try await phone.enabledManager()
    await #expect(throws: ENError(.notEntitled)) { _ = try await manager.testDiagnosisKeys() }
    #expect(phone.user.requests == [.enableExposureNotification])
  }
}
