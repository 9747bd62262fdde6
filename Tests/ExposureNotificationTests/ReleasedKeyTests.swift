// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct ReleasedKeyTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  /// The identifiers of `keys` in all their intervals.
  private func identifiers(of keys: [ENTemporaryExposureKey]) -> Set<RollingProximityIdentifier> {
    Set(
      keys.flatMap { key in
        TemporaryExposureKey(
          bytes: Array(key.keyData), rollingStart: IntervalNumber(rawValue: key.rollingStartNumber),
          rollingPeriod: key.rollingPeriod
        ).map { key in
          let schedule = KeySchedule(key)
          return (0..<key.rollingPeriod).map {
            schedule.identifier(
              at: IntervalNumber(rawValue: key.rollingStart.rawValue + $0))
          }
        } ?? []
      })
  }

  @Test(
    "After the clock is set back, no identifier of a released key is sent, also after a restart")
  func setBack() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await phone.run(device, days: 2)
    let released = identifiers(of: try await manager.diagnosisKeys())
    let sent = phone.radio.sent.count
    for days in [0.3, 1.1, 2] {
      phone.clock.set(to: TestPhone.noon + (2 - days) * TestPhone.day)
      await device.beat()
      await phone.device().beat()
    }
    let later = phone.radio.sent.dropFirst(sent)
    #expect(!later.isEmpty)
    #expect(later.allSatisfy { !released.contains($0.advertisement.identifier) })
  }

  @Test("If a day may have no other key, nothing is sent in the period of its released keys")
  func silent() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    for _ in 1...3 {
      _ = try await manager.diagnosisKeys()
      phone.clock.advance(by: 3_600)
      await device.beat()
    }
    #expect(phone.radio.isAdvertising)
    phone.clock.set(to: TestPhone.noon - 3_600)
    await device.beat()
    #expect(!phone.radio.isAdvertising)
    phone.clock.set(to: TestPhone.noon + 3 * 3_600)
    await device.beat()
    #expect(phone.radio.isAdvertising)
  }

  @Test("Seventeen requests on a day, and on 14 days, never return more keys than one upload takes")
  func wrongPINs() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    for _ in 0..<16 {
      for _ in 1...17 {
        let keys = try await manager.diagnosisKeys()
        #expect(UploadLimit.violation(of: keys.map(\.uploadKey), at: phone.clock.now) == nil)
        await phone.run(device, days: 1 / 18)
      }
      await phone.run(device, days: 1 / 18)
    }
  }

  @Test("A release is on the disk before the keys are returned")
  func stored() async throws {
    let manager = try await phone.enabledManager()
    let keys = try await manager.diagnosisKeys()
    let stored = try await phone.device().beacons.release(
      at: phone.clock.now, includingToday: false)
    #expect(stored.map { Data($0.secretBytes) } == keys.map(\.keyData))
    #expect(stored.map(\.rollingPeriod) == keys.map(\.rollingPeriod))
  }
}

extension ENTemporaryExposureKey {
  fileprivate var uploadKey: UploadKey {
    UploadKey(
      key: keyData.base64EncodedString(), rollingPeriod: rollingPeriod,
      rollingStartNumber: rollingStartNumber)
  }
}
