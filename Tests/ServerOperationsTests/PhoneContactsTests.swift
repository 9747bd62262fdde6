// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import HealthAuthorityConsole
import KeyServerAPI
import Logging
import RiskRules
import Settings
import Terminal
import TestSupport
import Testing
import TextEncodings

@testable import ServerOperations

/// The contacts with which the console previews a configuration.
@Suite("Contacts of a preview")
struct PhoneContactsTests {
  @Test("A stricter policy gives fewer high levels, and the same policy the same counts")
  func effect() async throws {
    let contacts = SimulatedContacts.lastWeek
    let present = RemoteConfiguration(version: 1)
    let same = try contacts.effect(of: present, replacing: present)
    #expect(same.version2.contacts.changed == 0 && same.version2.days.changed == 0)
    let before = same.version2.contacts.before
    #expect(before.none > 0 && before.low > 0 && before.high > 0 && before.medium == 0)
    var policy = WindowRiskPolicy.standard
    policy.minutesAtAttenuationWeights = policy.minutesAtAttenuationWeights.map {
      .init(attenuationRange: $0.attenuationRange, weight: $0.weight / 2)
    }
    var rules = WindowRiskConfiguration.standard
    rules.policy = policy
    var strict = present
    strict.windowRiskConfiguration = rules
    let effect = try contacts.effect(of: strict, replacing: present)
    let days = effect.version2.days
    #expect(days.after.high < days.before.high && days.changed > 0)
    #expect(effect.version2.contacts.after.high < before.high)
    let notices = effect.version2.notices
    #expect(notices.changed > 0 && notices.changed <= effect.count)
    #expect(notices.after.high < notices.before.high && effect.count == sum(notices.after))
    func sum(_ levels: ConfigurationEffect.Levels) -> Int {
      levels.none + levels.low + levels.medium + levels.high
    }
    #expect(sum(effect.version2.contacts.after) == sum(before))
    #expect(effect.version1.notices.changed == 0, "version 1 does not use windows")
  }

  @Test("A change of the thresholds of version 1 changes the levels of its phones, and no others")
  func effectOfScores() throws {
    let contacts = SimulatedContacts.lastWeek
    let present = RemoteConfiguration(version: 1)
    var lower = present
    lower.riskLevelConfiguration.maxMiddleRiskScore = 1_600
    let effect = try contacts.effect(of: lower, replacing: present)
    let (before, after) = (effect.version1.contacts.before, effect.version1.contacts.after)
    #expect(before.low > 0 && before.high > 0, "\(before)")
    #expect(after.high > before.high && after.low == before.low)
    #expect(effect.version1.contacts.changed == after.high - before.high)
    #expect(effect.version1.days.changed > 0 && effect.version2.days.changed == 0)
  }

  // MARK: - Recordings

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A window of 20 minutes near another phone, as `firebreak trials --windows` writes it.
  private func window(
    _ day: String, of phone: String?, minutes: Int = 20, reportType: Int = 1
  ) -> String {
    let scan =
      #"{"minimumAttenuation":50,"typicalAttenuation":55,"secondsSinceLastScan":\#(minutes * 60)}"#
    let name = phone.map { #","trial":"bus","phone":"\#($0)""# } ?? ""
    return #"{"date":"\#(day)","calibrationConfidence":3,"infectiousness":2,"#
      + #""diagnosisReportType":\#(reportType),"scanInstances":[\#(scan)]\#(name)}"#
  }

  private func file(_ windows: [String]) throws -> String {
    let file = folder.path("windows.json")
    try Data("[\(windows.joined(separator: ","))]".utf8).write(to: file)
    return file.path
  }

  /// The effect of halving the weight of near contacts.
  private func halved(_ contacts: PhoneContacts) throws -> ConfigurationEffect.Phones {
    var rules = WindowRiskConfiguration.standard
    rules.policy.minutesAtAttenuationWeights = rules.policy.minutesAtAttenuationWeights.map {
      .init(attenuationRange: $0.attenuationRange, weight: $0.weight / 2)
    }
    var new = RemoteConfiguration(version: 1)
    new.windowRiskConfiguration = rules
    return try contacts.effect(of: new, replacing: RemoteConfiguration(version: 1))
  }

  @Test("The windows of a field trial are evaluated by phone, and each phone has one notice")
  func byPhone() throws {
    let path = try file([
      window("2021-03-01", of: "a"), window("2021-03-02", of: "a"),
      window("2021-03-19", of: "b"), window("2021-03-19", of: "c", minutes: 1),
      window("2021-03-05", of: nil), window("2021-03-06", of: nil, minutes: 1),
    ])
    let contacts = try PhoneContacts(recordedAt: path)
    let effect = try halved(contacts)
    #expect(effect.count == 4)
    // Twenty minutes are a high risk, and ten a low one.
    #expect(effect.version2.notices.before == .init(none: 1, high: 3))
    #expect(effect.version2.notices.after == .init(none: 1, low: 3))
    #expect(effect.version2.notices.changed == 3)
    #expect(effect.version2.days.before == .init(none: 2, high: 4))
    #expect(effect.version2.contacts.changed == 4)
    #expect(effect.version1.notices.changed == 0 && effect.version1.notices.before.none < 4)
  }

  @Test("Windows that a phone has deleted by its check do not count")
  func old() throws {
    let day = PhoneContacts.dayCountMax
    let path = try file([
      window("2021-03-01", of: "a"), window("2021-03-\(day)", of: "a", minutes: 1),
      window("2021-03-01", of: "b"), window("2021-03-\(day + 1)", of: "b", minutes: 1),
    ])
    let effect = try halved(try PhoneContacts(recordedAt: path))
    #expect(effect.version2.notices.before == .init(none: 1, high: 1))
    #expect(effect.version2.days.before == .init(none: 2, high: 1))
  }

  @Test(
    "A report without a type gets that of the configuration, and none if it ignores such reports")
  func reportType() throws {
    let contacts = try PhoneContacts(
      recordedAt: try file([window("2021-03-01", of: "a", reportType: 0)]))
    var ignoring = RemoteConfiguration(version: 1)
    ignoring.windowRiskConfiguration = .standard
    ignoring.windowRiskConfiguration?.reportTypeNoneMap = 0
    let effect = try contacts.effect(of: ignoring, replacing: RemoteConfiguration(version: 1))
    #expect(effect.version2.notices.before == .init(high: 1))
    #expect(effect.version2.notices.after == .init(none: 1))
  }

  @Test("A recording without windows, or with too many, is refused with its name and the limits")
  func limits() throws {
    let windows = (0..<3).map { _ in window("2021-03-01", of: "a") }
    let path = try file(windows)
    #expect(try PhoneContacts(recordedAt: path, windowCountMax: 3).phones.count == 1)
    #expect(try PhoneContacts(recordedAt: path, windowCountMax: 4).phones.count == 1)
    for (count, limit) in [(3, 2), (0, 2)] {
      let path = try file(Array(windows.prefix(count)))
      let failure = #expect(throws: CommandFailure.self) {
        try PhoneContacts(recordedAt: path, windowCountMax: limit)
      }
      #expect(
        failure?.message
          == "The windows file \(path) has \(count) windows: use one with 1 to \(limit).")
    }
    #expect(PhoneContacts.recordedWindowCountMax == 20_000)
  }

  @Test("A recording that cannot be read stops the start of the console, with the cause")
  func unreadable() async throws {
    let data = folder.path("data")
    let setup = ServerSetup(folder: try ServerFolder(path: data.path)) { _ in }
    let missing = folder.path("none.json").path
    try Data(#"{"windowsFile":"\#(missing)"}"#.utf8)
      .write(to: data.appendingPathComponent("console/settings.json"))
    let failure = #expect(throws: CommandFailure.self) {
      _ = try setup.console(
        hosts: { _ in "127.0.0.1" }, port: 0, verification: nil, keys: nil,
        logger: .init(label: "test"))
    }
    #expect(failure?.message.contains(missing) == true)
    #expect(failure?.message.contains("there is no such file") == true)
  }
}
