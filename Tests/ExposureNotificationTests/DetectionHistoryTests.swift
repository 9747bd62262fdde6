// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct DetectionHistoryTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    self.phone = phone
  }

  private func detect(_ manager: ENManager, _ map: [NSNumber: NSNumber]) async throws {
    _ = try await manager.detectAgain(DiagnosedUser.configuration(map))
  }

  static let limits = [
    DeviceLimit.detectionsPerDayVersion1, DeviceLimit.detectionsPerDayVersion2,
  ]

  @Test("Calls above the limit are rejected until the first one is 24 hours old", arguments: limits)
  func limit(_ limit: Int) {
    var quota = DetectionQuota()
    for call in 0..<limit {
      accepts(&quota, at: TestPhone.noon + Double(call), limit: limit)
    }
    rejects(&quota, at: TestPhone.noon + TestPhone.day - 1, limit: limit)
    accepts(&quota, at: TestPhone.noon + TestPhone.day, limit: limit)
    rejects(&quota, at: TestPhone.noon + TestPhone.day, limit: limit)
  }

  @Test("Setting the clock back by an hour does not lift the limit")
  func clockSetBack() {
    var quota = DetectionQuota()
    accepts(&quota, at: TestPhone.noon, limit: 1)
    rejects(&quota, at: TestPhone.noon - 3600, limit: 1)
  }

  private func accepts(_ quota: inout DetectionQuota, at time: Date, limit: Int) {
    let isTaken = quota.take(at: time, limit: limit)
    #expect(isTaken)
  }

  private func rejects(_ quota: inout DetectionQuota, at time: Date, limit: Int) {
    let isTaken = quota.take(at: time, limit: limit)
    #expect(!isTaken)
  }

  @Test("The map may change once a week, the last map stays valid, and a restart lifts no limit")
  func weekly() async throws {
    let manager = try await phone.enabledManager()
    try await detect(manager, [0: 1])
    try await detect(manager, [0: 2])
    let error = await #expect(throws: ENError.self) { try await detect(manager, [0: 1]) }
    #expect(error?.code == .rateLimited)
    #expect(error?.localizedDescription.hasPrefix("infectiousnessForDays") == true)
    try await detect(manager, [0: 2])
    phone.clock.advance(by: DeviceLimit.mapChangeSeconds - 1)
    let restarted = try await phone.enabledManager()
    await #expect(throws: ENError.self) { try await detect(restarted, [0: 1]) }
    phone.clock.advance(by: 1)
    try await detect(restarted, [0: 1])
  }

  @Test("A rejected map is not counted as a call, and a day mapped to none equals a missing day")
  func notCounted() async throws {
    let manager = try await phone.enabledManager()
    try await detect(manager, [0: 1])
    try await detect(manager, [1: 1])
    for day in 2...12 {
      await #expect(throws: ENError.self) { try await detect(manager, [NSNumber(value: day): 1]) }
    }
    for _ in 3...DeviceLimit.detectionsPerDayVersion2 {
      try await detect(manager, [1: 1, 2: 0])
    }
    await #expect(throws: ENError(.rateLimited)) { try await detect(manager, [1: 1]) }
  }

  @Test("With the test entitlement the map may change without a limit")
  func entitled() async throws {
    var phone = phone
    phone.entitlements = [.exposureNotification, .test]
    let manager = try await phone.enabledManager()
    for day in 0..<5 { try await detect(manager, [NSNumber(value: day): 1]) }
  }
}
