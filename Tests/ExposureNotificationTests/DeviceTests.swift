// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct DeviceTests {
  let folder: TemporaryFolder
  var phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  @Test("The status is the first obstacle in Apple's order")
  func status() async throws {
    let device = phone.device()
    await device.beat()
    #expect(device.status == .disabled)
    try await device.setEnabled(true)
    #expect(device.status == .active)
    phone.radio.setPoweredOn(false)
    await device.beat()
    #expect(device.status == .bluetoothOff)
    #expect(!phone.radio.isAdvertising && !phone.radio.isListening)
    try await device.setEnabled(false)
    #expect(device.status == .disabled)
    try await device.setAuthorizedInSettings(false)
    #expect(device.status == .unauthorized)
  }

  @Test("Turning on fails if the consent is revoked while the call waits for the lock")
  func takenBackMeanwhile() async throws {
    let device = phone.device()
    let on = try await device.mutex.withLock {
      let on = Task { try await device.setEnabled(true) }
      // The user's decision is stored before the call waits for the lock, which is held here.
      try await Patience.until { device.authorizationStatus == .authorized }
      try await device.consentStore.update { $0.authorization = .notAuthorized }
      return on
    }
    await #expect(throws: ENError(.notAuthorized)) { try await on.value }
    try await device.setAuthorizedInSettings(true)
    #expect(!device.isEnabled && device.status == .disabled)
  }

  @Test("A radio that is turned on again is noticed within five minutes")
  func radioComesBack() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    phone.radio.setPoweredOn(false)
    let next = await device.beat()
    #expect(next.timeIntervalSince(phone.clock.now) <= DeviceLimit.powerCheckSeconds)
    phone.radio.setPoweredOn(true)
    phone.clock.set(to: next)
    await device.beat()
    #expect(phone.radio.isAdvertising && phone.radio.isListening)
  }

  @Test("A running device keeps sending, and its radio stops when the task is cancelled")
  func run() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    let life = Task { try await device.run() }
    while phone.radio.sent.count < 5 {
      phone.clock.advance(by: 60)
      await Task.yield()
    }
    life.cancel()
    await #expect(throws: CancellationError.self) { try await life.value }
    #expect(!phone.radio.isAdvertising && !phone.radio.isListening)
  }

  @Test("A device that is turned off stops its radio and keeps its data until it is turned on")
  func offAndOn() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting()])
    try await device.setEnabled(false)
    #expect(!phone.radio.isAdvertising && !phone.radio.isListening)
    #expect(try await device.contacts.sightings().count == 1)
    try await device.setEnabled(true)
    let sent = phone.radio.sent
    #expect(sent.count == 2 && sent[0].advertisement == sent[1].advertisement)
    #expect(phone.user.requests == [.enableExposureNotification])
  }

  @Test("Consent and refusal are stored over a restart")
  func remembers() async throws {
    try await phone.device().setEnabled(true)
    let again = phone.device()
    #expect(again.authorizationStatus == .authorized && again.isEnabled)
    try await again.setAuthorizedInSettings(false)
    let third = phone.device()
    #expect(third.authorizationStatus == .notAuthorized && !third.isEnabled)
    await #expect(throws: ENError(.notAuthorized)) { try await third.setEnabled(true) }
    #expect(phone.user.requests.count == 1)
  }

  @Test(
    "Consent that cannot be stored on a full disk has no effect",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 18)
    let phone = TestPhone(in: disk.url.appendingPathComponent("phone"))
    try FileManager.default.createDirectory(
      at: phone.folder, withIntermediateDirectories: true)
    let device = phone.device()
    let ballast = disk.fill()
    await #expect(throws: ENError(.insufficientStorage)) { try await device.setEnabled(true) }
    #expect(!device.isEnabled && !phone.radio.isAdvertising)
    try FileManager.default.removeItem(at: ballast)
    try await device.setEnabled(true)
    #expect(device.status == .active)
  }

  @Test(
    "Removing all data leaves no contact, key or damaged file, and a new key is created")
  func removal() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting()])
    await phone.run(device, days: 2)
    try Data([1]).write(to: folder.path("matches.damaged"))
    try await device.removeAllData()
    #expect(try await device.contacts.sightings().isEmpty)
    #expect(
      Set(folder.files().map(\.lastPathComponent))
        == ["permission", "clock", "18430.sealed", "keys.sizes"])
    let now = phone.clock.now
    #expect(try await device.beacons.release(at: now, includingToday: false).isEmpty)
    #expect(device.status == .active && phone.radio.isAdvertising)
  }

  @Test("No file of a device contains a key, an identifier, a consent or a field name in plaintext")
  func nothingInPlain() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    let sighting = try phone.sighting()
    await phone.radio.receive([sighting])
    await phone.run(device, days: 2)
    let keys = try await device.beacons.release(
      at: phone.clock.now + TestPhone.day, includingToday: false)
    #expect(keys.count == 3)
    var secrets = keys.map { Data($0.secretBytes) } + keys.map { Data($0.secretBytes).base64() }
    secrets += phone.radio.sent.map { Data($0.advertisement.identifier.bytes) }
    secrets += [Data(sighting.advertisement.identifier.bytes), Data("isEnabled".utf8)]
    secrets += [Data("rolling".utf8), Data("start".utf8), Data("calls".utf8)]
    let files = folder.files()
    #expect(files.count >= 3)
    for file in files {
      let content = try Data(contentsOf: file)
      #expect(secrets.allSatisfy { content.range(of: $0) == nil }, "\(file.lastPathComponent)")
    }
  }
}

extension Data {
  fileprivate func base64() -> Data { Data(base64EncodedString().utf8) }
}
