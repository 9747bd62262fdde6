// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Each of Apple's codes occurs. `ENErrorTests` has the details.
@Suite struct ENErrorCodeTests {
  /// Calls that fail with one code, on a separate phone.
  typealias Provocation = @Sendable (TestPhone) async throws -> Void

  static let provocations: [ENError.Code: Provocation] = [
    .unknown: { phone in
      let manager = try await phone.enabledManager()
      phone.user.hasScreen(false)
      _ = try await manager.diagnosisKeys()
    },
    .badParameter: { phone in
      let configuration = ENExposureConfiguration()
      configuration.attenuationLevelValues = [9]
      _ = try await phone.enabledManager().detect([], configuration)
    },
    .notEntitled: { _ = try await $0.enabledManager().testDiagnosisKeys() },
    .notAuthorized: { phone in
      phone.user.decides(false)
      _ = try await phone.enabledManager()
    },
    .unsupported: { _ = try await $0.enabledManager().detectAgain() },
    .invalidated: { phone in
      let manager = try await phone.enabledManager()
      manager.invalidate()
      _ = try await manager.diagnosisKeys()
    },
    .bluetoothOff: { phone in
      phone.radio.setPoweredOn(false)
      _ = try await phone.enabledManager()
    },
    .insufficientStorage: { _ in
      let disk = try SmallDisk(bytes: 1 << 18)
      let manager = TestPhone(in: disk.url).manager()
      try await manager.activate()
      _ = disk.fill()
      try await manager.setExposureNotificationEnabled(true)
    },
    .notEnabled: { phone in
      let manager = try await phone.enabledManager()
      try await manager.setExposureNotificationEnabled(false)
      _ = try await manager.diagnosisKeys()
    },
    .apiMisuse: { _ = try await $0.manager().diagnosisKeys() },
    .internal: { _ in _ = try await ENErrorTests.EmptyResultManager().diagnosisKeys() },
    .insufficientMemory: { phone in
      var phone = phone
      phone.sightingsPerDetection = 1
      let manager = try await phone.enabledManager()
      await phone.radio.receive([try phone.sighting(1), try phone.sighting(2)])
      _ = try await manager.detect([])
    },
    .rateLimited: { phone in
      let manager = try await phone.enabledManager()
      for _ in 0...DeviceLimit.detectionsPerDayVersion1 { _ = try await manager.detect([]) }
    },
    .restricted: { phone in
      let device = phone.device()
      try await device.setRestrictedInSettings(true)
      _ = try await phone.enabledManager(of: device)
    },
    .badFormat: { phone in
      _ = try await phone.enabledManager().detect([phone.folder.appendingPathComponent("no.zip")])
    },
    .dataInaccessible: { phone in
      let manager = try await phone.enabledManager()
      try Data().write(to: phone.folder.appendingPathComponent("contacts"))
      _ = try await manager.detect([])
    },
    .travelStatusNotAvailable: { _ = try await $0.enabledManager().userTraveled() },
  ]

  @Test(
    "Every ENError code occurs through Apple's calls",
    arguments: ENError.Code.allCases.filter { $0 != .insufficientStorage })
  func provoked(code: ENError.Code) async throws {
    try await expect(code)
  }

  @Test(
    "The code of a full disk occurs through Apple's calls",
    .needs(.smallDisk))
  func fullDisk() async throws {
    try await expect(.insufficientStorage)
  }

  private func expect(_ code: ENError.Code) async throws {
    let provocation = try #require(Self.provocations[code], "add a provocation of \(code)")
    let folder = try TemporaryFolder()
    let error = await #expect(throws: ENError.self) {
      try await provocation(TestPhone(in: folder.url))
    }
    #expect(error?.code == code)
    #expect(error?.localizedDescription.isEmpty == false)
  }
}
