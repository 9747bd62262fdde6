// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct ENManagerTests {
  let folder: TemporaryFolder
  var phone: TestPhone

  private final class ReceivedFlags: Sendable {
    let flags = Mutex<[ENActivityFlags]>([])
  }

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("A manager uses the installed device and is unsupported without one")
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

  @Test("Calls before activation fail with apiMisuse")
  func notActivated() async throws {
    let manager = phone.manager()
    await #expect(throws: ENError(.apiMisuse)) {
      try await manager.setExposureNotificationEnabled(true)
    }
    await #expect(throws: ENError(.apiMisuse)) { _ = try await manager.diagnosisKeys() }
    try await manager.activate()
    await #expect(throws: ENError(.apiMisuse)) { try await manager.activate() }
    #expect(phone.user.requests.isEmpty)
  }

  @Test("Activation without the entitlement fails")
  func notEntitled() async throws {
    var phone = phone
    phone.entitlements = []
    let manager = phone.manager()
    await #expect(throws: ENError(.notEntitled)) { try await manager.activate() }
    #expect(manager.exposureNotificationStatus == .unknown)
  }

  @Test("Invalidation calls pending handlers, then its own handler once, and is final")
  func invalidated() async throws {
    let manager = try await phone.enabledManager()
    let events = Mutex<[String]>([])
    await withCheckedContinuation { done in
      manager.invalidationHandler = {
        events.withLock { $0.append("invalidated") }
        done.resume()
      }
      manager.getDiagnosisKeys { _, _ in events.withLock { $0.append("keys") } }
      manager.invalidate()
      manager.invalidate()
    }
    #expect(events.withLock { $0 } == ["keys", "invalidated"])
    #expect(manager.invalidationHandler == nil)
    #expect(manager.exposureNotificationStatus == .unknown)
    await #expect(throws: ENError(.invalidated)) { try await manager.activate() }
    await #expect(throws: ENError(.invalidated)) { _ = try await manager.diagnosisKeys() }
  }

  @Test("A refusal is stored: the user is not asked again, and only the settings change it")
  func personSaysNo() async throws {
    phone.user.decides(false)
    let device = phone.device()
    let manager = phone.manager(of: device)
    try await manager.activate()
    for _ in 1...2 {
      await #expect(throws: ENError(.notAuthorized)) {
        try await manager.setExposureNotificationEnabled(true)
      }
    }
    #expect(phone.user.requests == [.enableExposureNotification])
    #expect(manager.exposureNotificationStatus == .unauthorized)
    try await device.setAuthorizedInSettings(true)
    try await manager.setExposureNotificationEnabled(true)
    #expect(manager.exposureNotificationStatus == .active)
  }

  @Test("Two concurrent calls show one prompt")
  func askedOnce() async throws {
    let device = phone.device()
    async let first: Void = device.setEnabled(true)
    async let second: Void = device.setEnabled(true)
    _ = try await (first, second)
    #expect(phone.user.requests == [.enableExposureNotification])
  }

  @Test("Keys are released only if enabled and only with consent, asked for every time")
  func consentEveryTime() async throws {
    let manager = phone.manager()
    try await manager.activate()
    await #expect(throws: ENError(.notEnabled)) { _ = try await manager.diagnosisKeys() }
    try await manager.setExposureNotificationEnabled(true)
    _ = try await manager.diagnosisKeys()
    phone.user.decides(false)
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager.diagnosisKeys() }
    phone.user.decides(true)
    _ = try await manager.diagnosisKeys()
    #expect(phone.user.requests.filter { $0 == .shareDiagnosisKeys }.count == 3)
    #expect(manager.exposureNotificationStatus == .active)
  }

  @Test("Version 1 returns keys of whole days without today's key")
  func keysOfVersion1() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    #expect(try await manager.diagnosisKeys().isEmpty)
    await phone.run(device, days: 20)
    let keys = try await manager.diagnosisKeys()
    #expect(keys.count == 14)
    #expect(keys.allSatisfy { $0.rollingPeriod == 144 && $0.transmissionRiskLevel == 0 })
    #expect(keys.allSatisfy { $0.keyData.count == 16 && $0.rollingStartNumber % 144 == 0 })
  }

  @Test("Version 2 returns today's key shortened and never sends with it again")
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
    await phone.run(device, days: 2)
    let later = try await manager.diagnosisKeys()
    #expect(later.map(\.rollingPeriod) == [72, 72, 144, 72])
    #expect(later.first?.keyData == keys.first?.keyData)
    let restarted = try await phone.enabledManager()
    #expect(try await restarted.diagnosisKeys().count == 4)
  }

  @Test("The descriptions of a key and a manager contain no secret")
  func redacted() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await phone.run(device, days: 1)
    let key = try #require(try await manager.diagnosisKeys().first)
    var text = "\(key) \(manager)"
    dump(key, to: &text)
    dump(device.region, to: &text)
    #expect(!text.contains(key.keyData.base64EncodedString()))
    #expect(!text.contains("\(Array(key.keyData))"))
    #expect(!text.contains("keyData"))
  }

  @Test("An observer receives each change of the status until its observation is released")
  func observed() async throws {
    let device = phone.device()
    let manager = phone.manager(of: device)
    let queue = manager.dispatchQueue
    let received = Mutex<[ENStatus?]>([])
    var token: NSKeyValueObservation? = manager.observe(
      \.exposureNotificationStatus, options: [.new, .initial]
    ) { _, change in received.withLock { $0.append(change.newValue) } }
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    phone.radio.setPoweredOn(false)
    await device.beat()
    queue.sync {}
    #expect(received.withLock { $0 } == [.unknown, .disabled, .active, .bluetoothOff])
    #expect(token != nil)
    token = nil
    try await manager.setExposureNotificationEnabled(false)
    queue.sync {}
    #expect(received.withLock { $0.count } == 4)
  }

  @Test("With .prior an observer receives each change twice, first with the old value only")
  func observedPrior() async throws {
    let manager = phone.manager()
    let received = Mutex<[[ENStatus?]]>([])
    let priors = Mutex<[Bool]>([])
    let token = manager.observe(\.exposureNotificationStatus, options: [.old, .new, .prior]) {
      _, change in
      received.withLock { $0.append([change.oldValue, change.newValue]) }
      priors.withLock { $0.append(change.isPrior) }
    }
    try await manager.activate()
    manager.dispatchQueue.sync {}
    #expect(received.withLock { $0 } == [[.unknown, nil], [.unknown, .disabled]])
    #expect(priors.withLock { $0 } == [true, false])
    token.invalidate()
  }

  @Test("Activity flags are pending until activation, then delivered at once until invalidation")
  func woken() async throws {
    let device = phone.device()
    device.wakeApp(for: .periodicRun)
    let manager = phone.manager(of: device)
    let queue = manager.dispatchQueue
    let received = ReceivedFlags()
    manager.setLaunchActivityHandler { flags in received.flags.withLock { $0.append(flags) } }
    #expect(received.flags.withLock { $0.isEmpty })
    try await manager.activate()
    device.wakeApp(for: .preAuthorizedKeyReleaseNotificationTapped)
    queue.sync {}
    let expected: [ENActivityFlags] = [.periodicRun, .preAuthorizedKeyReleaseNotificationTapped]
    #expect(received.flags.withLock { $0 } == expected)
    manager.invalidate()
    device.wakeApp(for: .periodicRun)
    queue.sync {}
    #expect(received.flags.withLock { $0 } == expected)
    #expect(manager.activityHandler == nil)
  }

  @Test("Managers without a handler, and released ones, do not consume pending activity flags")
  func managersWithoutHandler() async throws {
    let device = phone.device()
    do {
      let gone = phone.manager(of: device)
      gone.activityHandler = { _ in Issue.record("a released manager got flags") }
      try await gone.activate()
    }
    try await phone.manager(of: device).activate()
    device.wakeApp(for: .periodicRun)
    let manager = phone.manager(of: device)
    let received = ReceivedFlags()
    manager.activityHandler = { flags in received.flags.withLock { $0.append(flags) } }
    try await manager.activate()
    manager.dispatchQueue.sync {}
    #expect(received.flags.withLock { $0 } == [.periodicRun])
  }

  @Test("The key activityHandler takes a block, a closure of raw values or nil")
  func keyValueCoding() throws {
    let manager = phone.manager()
    let received = ReceivedFlags()
    let closure: (UInt32) -> Void = { raw in
      received.flags.withLock { $0.append(ENActivityFlags(rawValue: raw)) }
    }
    let block: @convention(block) (UInt32) -> Void = closure
    manager.setValue(block, forKey: "activityHandler")
    manager.activityHandler?(.periodicRun)
    manager.setValue(closure, forKey: "activityHandler")
    manager.activityHandler?(.reserved1)
    #expect(received.flags.withLock { $0 } == [.periodicRun, .reserved1])
    manager.setValue(nil, forKey: "another")
    #expect(manager.activityHandler != nil)
    manager.setValue(nil, forKey: "activityHandler")
    #expect(manager.activityHandler == nil)
  }
}
