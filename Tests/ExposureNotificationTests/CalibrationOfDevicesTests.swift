// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// The calibration of sender and receiver, from the radio to the windows.
@Suite struct CalibrationOfDevicesTests {
  let folder: TemporaryFolder
  let authority: Authority

  init() throws {
    folder = try TemporaryFolder()
    authority = try Authority()
  }

  private func phone(_ calibration: Calibration, version: Int) throws -> TestPhone {
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = version
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    phone.calibration = calibration
    return phone
  }

  /// The summary after a Pixel 5 was received with -70 dBm for ten minutes.
  private func detect(_ phone: TestPhone) async throws -> (ENManager, ENExposureDetectionSummary) {
    let sender = Calibration.of(manufacturer: "Google", model: "Pixel 5")
    let manager = try await phone.enabledManager()
    let diagnosed = try DiagnosedUser()
    for minute in [0.0, 5, 10] {
      let time = phone.clock.now + minute * 60
      await phone.radio.receive([
        try diagnosed.sighting(at: time, strength: -70, metadata: BluetoothMetadata(sender))
      ])
    }
    phone.clock.advance(by: TestPhone.day)
    let file = try authority.publish([try diagnosed.published()])
    return (manager, try await manager.detect([file], DiagnosedUser.configuration()))
  }

  // A Pixel 5 states -25 dBm.
  private static let receivers: [(Calibration, UInt8)] = [
    (Calibration(transmitPower: 0), 45),
    (.of(manufacturer: "Google", model: "Pixel 4"), 37),
    (.of(manufacturer: "Leagoo", model: "T5c"), 74),
    (.unknownModel, 41),
  ]

  @Test("The receiver's correction and the sender's power give the attenuation of version 2")
  func windows() async throws {
    for (receiver, attenuation) in Self.receivers {
      let phone = try phone(receiver, version: 2)
      let (manager, summary) = try await detect(phone)
      let windows = try await manager.windows(of: summary)
      #expect(windows.flatMap(\.scanInstances).map(\.typicalAttenuation).allEqual(attenuation))
      #expect(windows.map(\.calibrationConfidence) == [.high])
      try FileManager.default.removeItem(at: folder.path("contacts"))
      try FileManager.default.removeItem(at: folder.path("matches"))
      try FileManager.default.removeItem(at: folder.path("detections"))
    }
  }

  @Test("They give the attenuation of version 1, too")
  func exposures() async throws {
    let phone = try phone(.of(manufacturer: "Google", model: "Pixel 4"), version: 1)
    let (manager, summary) = try await detect(phone)
    let infos = try await manager.info(of: summary, explanation: "Pixel")
    #expect(infos.map(\.attenuationValue) == [37])
  }

  @Test("Stored signal strengths are those of the radio, so that a later calibration corrects them")
  func stored() async throws {
    let phone = try phone(.of(manufacturer: "Google", model: "Pixel 4"), version: 2)
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive([try phone.sighting()])
    #expect(try await device.contacts.sightings().map(\.signalStrength) == [-52])
    var recalibrated = phone
    recalibrated.calibration = Calibration(transmitPower: 8)
    #expect(try await recalibrated.device().contacts.sightings().map(\.signalStrength) == [-60])
  }

  @Test("A phone states its own power and confidence in its beacons")
  func sent() async throws {
    let phone = try phone(.of(manufacturer: "Google", model: "Pixel 4"), version: 2)
    let device = phone.device()
    try await device.setEnabled(true)
    let sent = try #require(phone.radio.sent.last?.advertisement)
    let keys = try await device.beacons.release(
      at: phone.clock.now + TestPhone.day, includingToday: false)
    let metadata = KeySchedule(try #require(keys.first)).open(
      sent.metadata, beside: sent.identifier)
    #expect(metadata.bytes == [0x5c, UInt8(bitPattern: -30), 0, 0])
  }
}

extension [ENAttenuation] {
  /// True if there are elements and all are `value`.
  fileprivate func allEqual(_ value: ENAttenuation) -> Bool {
    !isEmpty && allSatisfy { $0 == value }
  }
}
