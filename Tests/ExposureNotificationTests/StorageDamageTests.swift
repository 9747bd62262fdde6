// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import Synchronization
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct StorageDamageTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  private var names: [String] { folder.files().map(\.lastPathComponent) }

  /// A phone that was on for four days, of which one is damaged now.
  private func afterDamage() async throws -> Device {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 3)
    try phone.invertBit(in: "keys/18429.sealed")
    return phone.device()
  }

  @Test("An inverted bit in own keys costs one day, which is reported and set aside")
  func oneDay() async throws {
    let device = try await afterDamage()
    let damage = try #require(device.storageDamage.first)
    #expect(device.storageDamage.count == 1 && damage.part == .ownKeys)
    #expect(damage.day == Day(number: 18_429).midnight && damage.found == phone.clock.now)
    #expect("\(damage)".contains("2020-06-16"))
    #expect(names.contains("18429.sealed.damaged") && !names.contains("18429.sealed"))
    #expect(phone.log.errors == ["\(damage)"])
    let keys = try await device.beacons.release(at: phone.clock.now, includingToday: true)
    #expect(keys.map { Day(of: $0.rollingStart.date).number } == [18_428, 18_430, 18_431])
  }

  @Test("The first request for keys after a loss fails and explains it; the next returns the rest")
  func request() async throws {
    let device = try await afterDamage()
    let manager = try await phone.enabledManager(of: device)
    let error = await #expect(throws: ENError.self) { _ = try await manager.diagnosisKeys() }
    #expect(error?.code == .dataInaccessible)
    #expect(error?.localizedDescription.hasPrefix("The keys of 1 days were damaged") == true)
    #expect(!phone.user.requests.contains(.shareDiagnosisKeys))
    #expect(device.storageDamage.map(\.isAcknowledged) == [true])
    let restarted = try await phone.enabledManager()
    #expect(try await restarted.diagnosisKeys().count == 3)
  }

  @Test("Keys in advance are not released, and the consent not used, before the loss was reported")
  func inAdvance() async throws {
    let manager = try await phone.enabledManager()
    try await manager.preAuthorizeDiagnosisKeys()
    let restarted = try await phone.enabledManager(of: try await afterDamage())
    let received = KeyReleaseTests.Received()
    restarted.diagnosisKeysAvailableHandler = { keys in
      received.counts.withLock { $0.append(keys.count) }
    }
    let error = await #expect(throws: ENError.self) {
      try await restarted.requestPreAuthorizedDiagnosisKeys()
    }
    #expect(error?.code == .dataInaccessible)
    try await restarted.requestPreAuthorizedDiagnosisKeys()
    #expect(received.counts.withLock { $0 } == [3])
  }

  @Test("A loss that the app has acknowledged does not fail a request, also after a restart")
  func acknowledged() async throws {
    let device = try await afterDamage()
    try await device.acknowledgeStorageDamage()
    let manager = try await phone.enabledManager()
    #expect(try await manager.diagnosisKeys().count == 3)
  }

  @Test("A kill between the report and the renaming repeats both, and a loss is listed once")
  func killed() async throws {
    let damagedFile = folder.path("keys/18429.sealed")
    let first = try await afterDamage()
    #expect(first.storageDamage.count == 1)
    try FileManager.default.moveItem(at: folder.path("keys/18429.sealed.damaged"), to: damagedFile)
    let second = phone.device()
    #expect(second.storageDamage.map(\.part) == [.ownKeys])
    #expect(!FileManager.default.fileExists(atPath: damagedFile.path))
  }

  @Test("Losses disappear after 14 days, with their damaged files")
  func expiry() async throws {
    let device = try await afterDamage()
    await phone.run(device, days: 13.9)
    #expect(device.storageDamage.count == 1)
    await phone.run(device, days: 0.2)
    #expect(device.storageDamage.isEmpty && phone.device().storageDamage.isEmpty)
    #expect(!names.contains { $0.hasSuffix(".damaged") })
  }

  @Test("Removing all data removes the reports")
  func removed() async throws {
    let device = try await afterDamage()
    try await device.removeAllData()
    #expect(device.storageDamage.isEmpty && phone.device().storageDamage.isEmpty)
    #expect(!names.contains { $0.hasSuffix(".damaged") })
  }

  @Test("A damaged consent is reported, and the user is asked again")
  func consent() async throws {
    try await phone.device().setEnabled(true)
    try phone.invertBit(in: "permission")
    let device = phone.device()
    #expect(device.storageDamage.map(\.part) == [.consent])
    #expect(device.status == .disabled && names.contains("permission.damaged"))
    try await device.setEnabled(true)
    #expect(phone.user.requests == [.enableExposureNotification, .enableExposureNotification])
  }

  @Test(
    "Damaged limits, times and reports are each reported and set aside",
    arguments: [
      ("detections", StoredData.detectionLimits), ("clock", .retentionClock),
      ("damage", .reports),
    ])
  func others(name: String, part: StoredData) async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    _ = try await manager.detect([], DiagnosedUser.configuration())
    try device.reports.record(.contacts)
    try phone.invertBit(in: name)
    let again = phone.device()
    let parts = again.storageDamage.map(\.part)
    #expect(parts == (part == .reports ? [.reports] : [.contacts, part]))
    #expect(names.contains("\(name).damaged"))
    await again.beat()
    #expect(phone.device().storageDamage == again.storageDamage)
  }

  @Test("Every loss has a text that says what it means")
  func texts() {
    let texts = StoredData.allCases.map {
      "\(StorageDamage($0, day: nil, found: TestPhone.noon))"
    }
    #expect(Set(texts).count == texts.count && texts.allSatisfy { $0.contains(": ") })
  }

  @Test("A damaged list of losses keeps its name until a new one is stored")
  func listKeepsName() async throws {
    try phone.device().reports.record(.contacts)
    try phone.invertBit(in: "damage")
    let damaged = try Data(contentsOf: folder.path("damage"))
    // A folder of this name makes every replacement fail.
    try FileManager.default.createDirectory(
      at: folder.path(".damage.unfinished-a1B2c3"), withIntermediateDirectories: false)
    let device = phone.device()
    #expect(device.storageDamage.map(\.part) == [.reports])
    #expect(try Data(contentsOf: folder.path("damage")) == damaged)
    try FileManager.default.removeItem(at: folder.path(".damage.unfinished-a1B2c3"))
    await device.beat()
    #expect(try Data(contentsOf: folder.path("damage.damaged")) == damaged)
    #expect(phone.device().storageDamage.map(\.part) == [.reports])
  }

  // The sealing key.

  private func contents() throws -> [String: Data] {
    try folder.files().reduce(into: [:]) { $0[$1.path] = try Data(contentsOf: $1) }
  }

  private func matches(_ key: SealingKey) throws -> Bool {
    try Device.keyMatches(folder: folder.url, sealingKey: key, randomness: phone.randomness)
  }

  @Test("Another sealing key does not match the folder, and nothing changes")
  func otherKey() async throws {
    let other = SealingKey(from: phone.randomness)
    #expect(try matches(phone.sealingKey) && matches(phone.sealingKey))
    #expect(try !matches(other))
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 1)
    let before = try contents()
    #expect(try !matches(other))
    #expect(try contents() == before)
    // Without the check file as well.
    try FileManager.default.removeItem(at: folder.path("key"))
    #expect(try !matches(other) && !names.contains("key"))
    #expect(try matches(phone.sealingKey) && names.contains("key"))
  }

  @Test("A damaged check of the key alone is written again")
  func damagedCheck() async throws {
    #expect(try matches(phone.sealingKey))
    await phone.device().beat()
    try phone.invertBit(in: "key")
    #expect(try phone.sealedFile("key").opens == false)
    #expect(try matches(phone.sealingKey))
    #expect(try phone.sealedFile("key").opens)
    for name in ["clock", "damage"] where names.contains(name) { try phone.invertBit(in: name) }
    #expect(try matches(phone.sealingKey))
  }

  // Files that cannot be read, which is not damage.

  /// Makes `name` unreadable for any user, and returns the way back.
  private func hide(_ name: String) throws -> () throws -> Void {
    let (url, hidden) = (folder.path(name), folder.path(name + ".hidden"))
    try FileManager.default.moveItem(at: url, to: hidden)
    try FileManager.default.createSymbolicLink(at: url, withDestinationURL: url)
    return {
      try FileManager.default.removeItem(at: url)
      try FileManager.default.moveItem(at: hidden, to: url)
    }
  }

  @Test("A consent that cannot be read is not \"turned off\", and is read again with the next beat")
  func unreadableConsent() async throws {
    try await phone.device().setEnabled(true)
    let show = try hide("permission")
    let device = phone.device()
    let manager = phone.manager(of: device)
    try await manager.activate()
    for call: () async throws -> Void in [
      { _ = try await manager.diagnosisKeys() }, { _ = try await manager.detect([]) },
      { try await manager.setExposureNotificationEnabled(true) },
    ] {
      let error = await #expect(throws: ENError.self) { try await call() }
      #expect(error?.code == .dataInaccessible)
      #expect(error?.localizedDescription.contains("check the folder's owner") == true)
    }
    #expect(device.status == .unknown && device.storageDamage.isEmpty)
    #expect(phone.user.requests.count == 1)
    try show()
    await device.beat()
    #expect(device.status == .active && phone.radio.isAdvertising)
  }

  @Test("Keys that cannot be read are neither replaced nor lost")
  func unreadableKeys() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
    let show = try hide("keys/18429.sealed")
    let sent = phone.radio.sent.count
    let restarted = try await phone.enabledManager()
    #expect(phone.radio.sent.count == sent)
    let error = await #expect(throws: ENError.self) { _ = try await restarted.diagnosisKeys() }
    #expect(error?.code == .dataInaccessible)
    try show()
    #expect(try await restarted.diagnosisKeys().count == 3)
  }

  @Test("Limits that cannot be read fail a detection and are not reset")
  func unreadableLimits() async throws {
    let manager = try await phone.enabledManager()
    let configuration = DiagnosedUser.configuration()
    for _ in 1...5 { _ = try await manager.detect([], configuration) }
    let show = try hide("detections")
    let restarted = try await phone.enabledManager()
    let error = await #expect(throws: ENError.self) {
      _ = try await restarted.detect([], configuration)
    }
    #expect(error?.code == .dataInaccessible)
    try show()
    _ = try await restarted.detect([], configuration)
    await #expect(throws: ENError(.rateLimited)) {
      _ = try await restarted.detect([], configuration)
    }
  }

  @Test("A removed day of own keys is reported, and the first request for keys fails")
  func removedKeys() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 3)
    try FileManager.default.removeItem(at: folder.path("keys/18429.sealed"))
    let restarted = phone.device()
    #expect(restarted.storageDamage.map(\.part) == [.ownKeys])
    #expect(restarted.storageDamage.first?.day == Day(number: 18_429).midnight)
    let manager = try await phone.enabledManager(of: restarted)
    let error = await #expect(throws: ENError.self) { _ = try await manager.diagnosisKeys() }
    #expect(error?.code == .dataInaccessible)
    #expect(try await manager.diagnosisKeys().count == 3)
    #expect(phone.device().storageDamage.count == 1)
    // The loss of a second day is reported by itself.
    try FileManager.default.removeItem(at: folder.path("keys/18430.sealed"))
    let again = phone.device()
    #expect(again.storageDamage.map(\.part) == [.ownKeys, .ownKeys])
    #expect(again.storageDamage.last?.day == Day(number: 18_430).midnight)
    let next = try await phone.enabledManager(of: again)
    let second = await #expect(throws: ENError.self) { _ = try await next.diagnosisKeys() }
    #expect(second?.code == .dataInaccessible)
    #expect(try await next.diagnosisKeys().count == 2)
  }

  @Test("A removed consent of a device with keys is reported once")
  func removedConsent() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 1)
    try FileManager.default.removeItem(at: folder.path("permission"))
    for _ in 1...2 {
      let restarted = phone.device()
      #expect(restarted.storageDamage.map(\.part) == [.consent])
      #expect(!restarted.isEnabled && restarted.authorizationStatus == .unknown)
    }
    #expect(phone.log.errors.count == 1)
  }
}

extension SealedFile {
  /// False if it is damaged.
  fileprivate var opens: Bool {
    get throws {
      do { return try read() != nil } catch .damaged { return false }
    }
  }
}
