// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

@Suite struct RetainedKeysTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone() }

  private var names: [String] { folder.files().map(\.lastPathComponent) }

  @Test("A match counts in later calls without its file, also after a restart")
  func again() async throws {
    let diagnosed = try DiagnosedUser()
    let manager = try await afterMeeting(diagnosed)
    let file = try authority.publish([try diagnosed.published()])
    let first = try await manager.detect([file], configuration)
    let windows = try await manager.windows(of: first).count
    let other = try authority.publish([try DiagnosedUser(2).published()], as: "2.zip")
    let restarted = try await phone.enabledManager()
    for again in [
      try await manager.detectAgain(configuration), try await manager.detect([], configuration),
      try await manager.detect([other, file], configuration),
      try await restarted.detectAgain(configuration),
    ] {
      #expect(again.matchedKeyCount == 1 && again.daySummaries.count == 1)
    }
    let last = try await restarted.detectAgain(configuration)
    #expect(try await restarted.windows(of: last).count == windows)
  }

  @Test("A retained match is scored with the configuration of the later call")
  func anotherConfiguration() async throws {
    let diagnosed = try DiagnosedUser()
    let manager = try await afterMeeting(diagnosed)
    let file = try authority.publish([try diagnosed.published()])
    let nothing = DiagnosedUser.configuration(testWeight: 0)
    let first = try await manager.detect([file], nothing)
    #expect(first.daySummaries.first?.daySummary.scoreSum == 0)
    let second = try await manager.detectAgain(configuration)
    #expect(try #require(second.daySummaries.first).daySummary.scoreSum > 0)
    #expect(second.attenuationDurations.isEmpty && second.maximumRiskScore == 0)
  }

  @Test("A revision in a later file removes a retained match permanently")
  func withdrawn() async throws {
    let diagnosed = try DiagnosedUser()
    let manager = try await afterMeeting(diagnosed)
    let file = try authority.publish([try diagnosed.published(.selfReport)])
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
    let revision = try authority.publish(
      [], revised: [try diagnosed.published(.revoked)], as: "2.zip")
    #expect(try await manager.detect([revision], configuration).matchedKeyCount == 0)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 0)
  }

  @Test("A report type changes once, also over several detections and a restart")
  func changesOnce() async throws {
    let diagnosed = try DiagnosedUser()
    var manager = try await afterMeeting(diagnosed)
    _ = try await manager.detect(
      [try authority.publish([try diagnosed.published(.selfReport)])], configuration)
    for (number, reportType) in [ReportType.confirmedClinicalDiagnosis, .confirmedTest, .revoked]
      .enumerated()
    {
      manager = try await phone.enabledManager()
      let file = try authority.publish(
        [], revised: [try diagnosed.published(reportType)], as: "revision-\(number).zip")
      let summary = try await manager.detect([file], configuration)
      let windows = try await manager.windows(of: summary)
      #expect(Set(windows.map(\.diagnosisReportType)) == [.confirmedClinicalDiagnosis])
    }
  }

  @Test("A key without a match is retained while its beacons may still be received")
  func openKey() async throws {
    let manager = try await phone.enabledManager()
    let (today, yesterday) = (
      try DiagnosedUser(1), try DiagnosedUser(2, on: TestPhone.noon - TestPhone.day)
    )
    let late = try authority.publish([try yesterday.published()], as: "late.zip")
    _ = try await manager.detect([late], configuration)
    #expect(!names.contains("matches"))
    let early = try authority.publish([try today.published()])
    #expect(try await manager.detect([early], configuration).matchedKeyCount == 0)
    #expect(names.contains("matches"))
    await today.meets(phone)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
  }

  @Test("A failed call retains no key")
  func failed() async throws {
    let diagnosed = try DiagnosedUser()
    let manager = try await afterMeeting(diagnosed)
    let file = try authority.publish([try diagnosed.published()])
    let foreign = try Authority().publish([], as: "foreign.zip")
    await #expect(throws: ENError.self) {
      _ = try await manager.detect([file, foreign], configuration)
    }
    #expect(!names.contains("matches"))
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
  }

  @Test("Removing all data removes retained keys")
  func removed() async throws {
    let diagnosed = try DiagnosedUser()
    let device = phone.device()
    let manager = try await afterMeeting(diagnosed, device)
    let file = try authority.publish([try diagnosed.published()])
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
    try await device.removeAllData()
    #expect(!names.contains { $0.hasPrefix("matches") })
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
  }

  @Test("Retained keys are not stored in plaintext and are redacted in descriptions")
  func sealed() async throws {
    let diagnosed = try DiagnosedUser()
    let manager = try await afterMeeting(diagnosed)
    let file = try authority.publish([try diagnosed.published()])
    _ = try await manager.detect([file], configuration)
    let content = try Data(contentsOf: folder.path("matches"))
    let bytes = Data(diagnosed.key.secretBytes)
    #expect(content.range(of: bytes) == nil)
    #expect(content.range(of: Data(bytes.base64EncodedString().utf8)) == nil)
    let kept = RetainedKey(key: try diagnosed.published(), since: TestPhone.noon)
    #expect("\(kept) \(RetainedKeyRecord(kept))" == "RetainedKey RetainedKeyRecord")
  }

  @Test(
    "On a full disk the call fails and the retained keys are unchanged",
    .needs(.smallDisk))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    var phone = TestPhone(in: disk.url.appendingPathComponent("phone"))
    (phone.apiVersion, phone.region) = (2, self.phone.region)
    let manager = try await phone.enabledManager()
    let diagnosed = try DiagnosedUser()
    await diagnosed.meets(phone)
    phone.clock.advance(by: TestPhone.day)
    let file = try authority.publish([try diagnosed.published()])
    let ballast = disk.fill()
    await #expect(throws: ENError(.insufficientStorage)) {
      _ = try await manager.detect([file], configuration)
    }
    try FileManager.default.removeItem(at: ballast)
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
  }

  @Test("Keys are retained for 14 days, and of too many the first are kept")
  func limits() throws {
    let kept = RetainedKey(key: try DiagnosedUser().published(), since: TestPhone.noon)
    let end = TestPhone.noon + 14 * TestPhone.day
    #expect(
      [end - 1, end, end + 1].map { RetentionPeriod(times: [$0]).keeps(since: kept.since) }
        == [true, true, false])
    let keys = try (1...UInt32(DeviceLimit.retainedKeys + 1)).map {
      RetainedKey(key: try DiagnosedUser($0).published(), since: TestPhone.noon)
    }
    let file = RetainedKeyStore(file: phone.sealedFile("matches"))
    let period = RetentionPeriod(times: [TestPhone.noon])
    for (count, expected) in [(-1, -1), (0, 0), (1, 0)] {
      try file.replace(with: Array(keys.prefix(DeviceLimit.retainedKeys + count)))
      let read = try file.read(keeping: period, at: TestPhone.noon)
      #expect(read == Array(keys.prefix(DeviceLimit.retainedKeys + expected)))
    }
  }
}
