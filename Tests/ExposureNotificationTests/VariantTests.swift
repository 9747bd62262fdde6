// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct VariantTests {
  let folder: TemporaryFolder
  let authority: Authority
  let region: RegionConfiguration

  init() throws {
    folder = try TemporaryFolder()
    authority = try Authority()
    region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
  }

  private func phone(_ variant: Device.Variant, apiVersion: Int = 1) throws -> TestPhone {
    var phone = TestPhone(in: folder.path("\(variant)-\(apiVersion)"))
    (phone.variant, phone.apiVersion, phone.region) = (variant, apiVersion, region)
    return phone
  }

  private func files(_ numbers: ClosedRange<UInt32>) throws -> [URL] {
    try numbers.map {
      try authority.publish([try DiagnosedUser($0).published()], as: "\($0).zip")
    }
  }

  @Test("iOS 13.5 limits new files in 24 hours, not calls")
  func newFiles() async throws {
    let phone = try phone(.ios13_5)
    let manager = try await phone.enabledManager()
    let limit = UInt32(DeviceLimit.newFilesPerDay)
    let many = try files(1...limit)
    for _ in 0..<(DeviceLimit.detectionsPerDayVersion1 + 1) { _ = try await manager.detect([]) }
    _ = try await manager.detect(Array(many.dropLast()))
    _ = try await manager.detect(many)
    _ = try await manager.detect(many)
    let another = try files(limit + 1...limit + 1)
    await #expect(throws: ENError(.rateLimited)) { _ = try await manager.detect(another) }
    let restarted = try await phone.enabledManager()
    await #expect(throws: ENError(.rateLimited)) { _ = try await restarted.detect(another) }
    phone.clock.advance(by: TestPhone.day)
    _ = try await restarted.detect(another)
  }

  @Test("Files up to the limit are accepted, one more is rejected")
  func fileLimit() {
    for (count, isTaken) in [(14, true), (15, true), (16, false)] {
      var quota = KeyFileQuota()
      let digests = Set((0..<count).map { Data([UInt8($0)]) })
      let took = quota.take(digests, at: TestPhone.noon, limit: DeviceLimit.newFilesPerDay)
      #expect(took == isTaken && quota.seen.count == (isTaken ? count : 0))
    }
  }

  @Test(
    "iOS 13.6 and later limit calls to the device's detectionsPerDay",
    arguments: [Device.Variant.ios13_6, .ios14])
  func calls(_ variant: Device.Variant) async throws {
    var phone = try phone(variant)
    phone.detectionsPerDay = 2
    let manager = try await phone.enabledManager()
    for _ in 1...2 { _ = try await manager.detect([]) }
    await #expect(throws: ENError(.rateLimited)) { _ = try await manager.detect([]) }
  }

  @Test(
    "Durations are rounded by the release's step, and short keys match only since 13.6",
    arguments: Device.Variant.allCases)
  func durations(_ variant: Device.Variant) async throws {
    let phone = try phone(variant)
    let manager = try await phone.enabledManager()
    let (whole, short) = (try DiagnosedUser(1), try DiagnosedUser(2, period: 143))
    for diagnosed in [whole, short] {
      await phone.receive(diagnosed.key, seconds: [0, 200, 400])
    }
    phone.clock.advance(by: TestPhone.day)
    let file = try authority.publish([try whole.published(), try short.published()])
    let summary = try await manager.detect([file])
    #expect(summary.matchedKeyCount == (variant == .ios13_5 ? 1 : 2))
    let infos = try await manager.info(of: summary, explanation: "")
    // 400 seconds and half a scan interval at each end are 11 minutes and 40 seconds.
    #expect(Set(infos.map(\.duration)) == [variant == .ios13_5 ? 900 : 720])
  }

  @Test(
    "Before iOS 14 version 2, pre-authorization and travel are unsupported",
    arguments: [Device.Variant.ios13_5, .ios13_6])
  func early(_ variant: Device.Variant) async throws {
    let manager = try await phone(variant, apiVersion: 2).enabledManager()
    manager.diagnosisKeysAvailableHandler = { _ in }
    let summary = try await manager.detect([])
    #expect(try await manager.info(of: summary, explanation: "").isEmpty)
    await #expect(throws: ENError(.unsupported)) { _ = try await manager.windows(of: summary) }
    await #expect(throws: ENError(.unsupported)) { _ = try await manager.detectAgain() }
    await #expect(throws: ENError(.unsupported)) {
      try await manager.preAuthorizeDiagnosisKeys()
    }
    await #expect(throws: ENError(.unsupported)) {
      try await manager.requestPreAuthorizedDiagnosisKeys()
    }
    await #expect(throws: ENError(.unsupported)) { _ = try await manager.userTraveled() }
  }

  @Test("An unknown API version counts as 1")
  func unknownVersion() async throws {
    let manager = try await phone(.latest, apiVersion: 3).enabledManager()
    _ = try await manager.detect([])
    await #expect(throws: ENError(.unsupported)) { _ = try await manager.detectAgain() }
  }
}
