import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 5.5 and 5.6.
@Suite struct PreAuthorizationTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  /// What the handler got, call by call: how many keys.
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
    "A yes today releases the keys in four days, once, without a question, and the person is told")
  func once() async throws {
    let device = phone.device()
    let (manager, received) = try await manager(of: device)
    try await manager.preAuthorizeDiagnosisKeys()
    await phone.live(device, days: 4)
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [5])
    #expect(phone.person.told == [.preAuthorizedKeysReleased])
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [5, 0])
    #expect(phone.person.told.count == 1)
    #expect(phone.person.asked == [.enableExposureNotification, .preAuthorizeDiagnosisKeys])
  }

  @Test("The yes and its use are remembered over a restart")
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

  @Test("After five days, after a no, and without a yes there are no keys")
  func notAuthorized() async throws {
    let (manager, received) = try await manager()
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await manager.preAuthorizeDiagnosisKeys()
    phone.clock.move(by: DeviceLimit.preAuthorizationSeconds + 1)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    try await manager.preAuthorizeDiagnosisKeys()
    phone.person.says(false)
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.preAuthorizeDiagnosisKeys()
    }
    await #expect(throws: ENError(.notAuthorized)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    #expect(received.counts.withLock { $0.isEmpty })
  }

  @Test("A yes holds for five days to the second, and not before it was given")
  func limits() {
    let word = PreAuthorization(given: TestPhone.noon)
    let end = TestPhone.noon + DeviceLimit.preAuthorizationSeconds
    #expect([end - 1, end, end + 1].map(word.isValid) == [true, true, false])
    #expect([TestPhone.noon - 1, TestPhone.noon].map(word.isValid) == [false, true])
  }

  @Test("Without a handler to take the keys the request is misuse, and nothing is used up")
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

  @Test("Switched off, not allowed in the settings, or with all data removed, nothing is released")
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

  @Test("A phone of version 1 on its first day has no key yet and keeps the yes for later")
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
    await phone.live(device, days: 1)
    try await manager.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [0, 1])
  }

  @Test("Two requests at once release once")
  func atOnce() async throws {
    let device = phone.device()
    let (manager, _) = try await manager(of: device)
    try await manager.preAuthorizeDiagnosisKeys()
    async let first = device.releasePreAuthorizedKeys().count
    async let second = device.releasePreAuthorizedKeys().count
    #expect(try await [first, second].sorted() == [0, 1])
  }
}
