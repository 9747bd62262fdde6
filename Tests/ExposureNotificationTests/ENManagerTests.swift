import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

/// Documentation/Framework.md 1 and 5.
@Suite struct ENManagerTests {
  let folder: TemporaryFolder
  var phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("Without a device nothing is supported; with one installed a manager finds it")
  func installed() async throws {
    let none = ENManager()
    #expect(none.exposureNotificationStatus == .unknown)
    #expect(ENManager.authorizationStatus == .unknown)
    await #expect(throws: ENError(.unsupported)) { try await none.activate() }
    let device = phone.device()
    try await device.setEnabled(true)
    Device.install(device)
    #expect(ENManager.authorizationStatus == .authorized)
    let manager = ENManager()
    #expect(manager.exposureNotificationStatus == .unknown)
    #expect(!manager.exposureNotificationEnabled)
    try await manager.activate()
    #expect(manager.exposureNotificationStatus == .active)
    #expect(manager.exposureNotificationEnabled)
  }

  @Test("Before activation every call is misuse")
  func notActivated() async throws {
    let manager = phone.manager()
    await #expect(throws: ENError(.apiMisuse)) {
      try await manager.setExposureNotificationEnabled(true)
    }
    await #expect(throws: ENError(.apiMisuse)) { _ = try await manager.diagnosisKeys() }
    try await manager.activate()
    await #expect(throws: ENError(.apiMisuse)) { try await manager.activate() }
    #expect(phone.person.asked.isEmpty)
  }

  @Test("An app without the entitlement is not admitted")
  func notEntitled() async throws {
    var phone = phone
    phone.entitlements = []
    let manager = phone.manager()
    await #expect(throws: ENError(.notEntitled)) { try await manager.activate() }
    #expect(manager.exposureNotificationStatus == .unknown)
  }

  @Test("Invalidated, a manager answers what is due, says so once, and never works again")
  func invalidated() async throws {
    let manager = try await phone.enabledManager()
    let events = Mutex<[String]>([])
    await withCheckedContinuation { done in
      manager.invalidationHandler = {
        events.withLock { $0.append("invalidated") }
        done.resume()
      }
      manager.getDiagnosisKeys { _, _ in events.withLock { $0.append("answer") } }
      manager.invalidate()
      manager.invalidate()
    }
    #expect(events.withLock { $0 } == ["answer", "invalidated"])
    #expect(manager.invalidationHandler == nil)
    #expect(manager.exposureNotificationStatus == .unknown)
    await #expect(throws: ENError(.invalidated)) { try await manager.activate() }
    await #expect(throws: ENError(.invalidated)) { _ = try await manager.diagnosisKeys() }
  }

  @Test("A no is remembered: the person is not asked again, and only the settings change it")
  func personSaysNo() async throws {
    phone.person.says(false)
    let device = phone.device()
    let manager = phone.manager(of: device)
    try await manager.activate()
    for _ in 1...2 {
      await #expect(throws: ENError(.notAuthorized)) {
        try await manager.setExposureNotificationEnabled(true)
      }
    }
    #expect(phone.person.asked == [.enableExposureNotification])
    #expect(manager.exposureNotificationStatus == .unauthorized)
    try await device.setAuthorizedInSettings(true)
    try await manager.setExposureNotificationEnabled(true)
    #expect(manager.exposureNotificationStatus == .active)
  }

  @Test("Two calls at once put one question to the person")
  func askedOnce() async throws {
    let device = phone.device()
    async let first: Void = device.setEnabled(true)
    async let second: Void = device.setEnabled(true)
    _ = try await (first, second)
    #expect(phone.person.asked == [.enableExposureNotification])
  }

  @Test("Keys are handed out only where enabled and only with a yes, asked for every time")
  func consentEveryTime() async throws {
    let manager = phone.manager()
    try await manager.activate()
    await #expect(throws: ENError(.notEnabled)) { _ = try await manager.diagnosisKeys() }
    try await manager.setExposureNotificationEnabled(true)
    _ = try await manager.diagnosisKeys()
    phone.person.says(false)
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager.diagnosisKeys() }
    phone.person.says(true)
    _ = try await manager.diagnosisKeys()
    #expect(phone.person.asked.filter { $0 == .shareDiagnosisKeys }.count == 3)
    #expect(manager.exposureNotificationStatus == .active)
  }

  @Test("Version 1 hands out whole days and never today's key")
  func keysOfVersion1() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    #expect(try await manager.diagnosisKeys().isEmpty)
    await phone.live(device, days: 20)
    let keys = try await manager.diagnosisKeys()
    #expect(keys.count == 14)
    #expect(keys.allSatisfy { $0.rollingPeriod == 144 && $0.transmissionRiskLevel == 0 })
    #expect(keys.allSatisfy { $0.keyData.count == 16 && $0.rollingStartNumber % 144 == 0 })
  }

  @Test("Version 2 hands out today's key cut short and never sends with it again")
  func keysOfVersion2() async throws {
    var phone = phone
    phone.apiVersion = 2
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    let before = try #require(phone.radio.sent.last)
    let keys = try await manager.diagnosisKeys()
    #expect(keys.map(\.rollingPeriod) == [72])
    #expect(phone.radio.sent.count == 2)
    #expect(phone.radio.sent.last?.advertisement != before.advertisement)
    await phone.live(device, days: 2)
    let later = try await manager.diagnosisKeys()
    #expect(later.map(\.rollingPeriod) == [72, 72, 144, 72])
    #expect(later.first?.keyData == keys.first?.keyData)
    let restarted = try await phone.enabledManager()
    #expect(try await restarted.diagnosisKeys().count == 4)
  }

  @Test("A key and a manager say nothing in a log")
  func redacted() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await phone.live(device, days: 1)
    let key = try #require(try await manager.diagnosisKeys().first)
    var text = "\(key) \(manager)"
    dump(key, to: &text)
    dump(device.region, to: &text)
    #expect(!text.contains(key.keyData.base64EncodedString()))
    #expect(!text.contains("\(Array(key.keyData))"))
    #expect(!text.contains("keyData"))
  }

  @Test("An observer is told of each change of the status until its token is gone")
  func observed() async throws {
    let device = phone.device()
    let manager = phone.manager(of: device)
    let queue = manager.dispatchQueue
    let heard = Mutex<[ENStatus?]>([])
    var token: NSKeyValueObservation? = manager.observe(
      \.exposureNotificationStatus, options: [.new, .initial]
    ) { _, change in heard.withLock { $0.append(change.newValue) } }
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    phone.radio.setPoweredOn(false)
    await device.beat()
    queue.sync {}
    #expect(heard.withLock { $0 } == [.unknown, .disabled, .active, .bluetoothOff])
    #expect(token != nil)
    token = nil
    try await manager.setExposureNotificationEnabled(false)
    queue.sync {}
    #expect(heard.withLock { $0.count } == 4)
  }

  @Test("With .prior an observer is told twice of each change, first with the old value alone")
  func observedPrior() async throws {
    let manager = phone.manager()
    let heard = Mutex<[[ENStatus?]]>([])
    let priors = Mutex<[Bool]>([])
    let token = manager.observe(\.exposureNotificationStatus, options: [.old, .new, .prior]) {
      _, change in
      heard.withLock { $0.append([change.oldValue, change.newValue]) }
      priors.withLock { $0.append(change.isPrior) }
    }
    try await manager.activate()
    manager.dispatchQueue.sync {}
    #expect(heard.withLock { $0 } == [[.unknown, nil], [.unknown, .disabled]])
    #expect(priors.withLock { $0 } == [true, false])
    token.invalidate()
  }
}
