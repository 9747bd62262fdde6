// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import KeyServerAPI

// The JSON objects of the commands. Times are Unix seconds. The names are a promise to other programs, and so is `null`
// for an absent value where a property is `@Nullable`.

/// The state of a phone: `status --json`.
struct StatusReport: Encodable {
  /// True if the owner has turned exposure notifications on.
  var enabled: Bool
  /// True if the owner has allowed them.
  var authorized: Bool
  /// True if beacons are sent and received; false without a running phone.
  var bluetooth: Bool
  /// The risk level of the last fourteen days, 0 to 3; `nil` while it is unknown.
  @Nullable var riskLevel: Int?
  /// The number of exposures of the last fourteen days.
  var exposures: Int
  /// The time of the last complete check; `nil` before the first.
  @Nullable var lastCheck: Date?
  /// The reason of the last failure; `nil` if the last check succeeded.
  @Nullable var lastFailure: String?
  /// The number of notices that are shown.
  var notices: Int
  /// True if an unfinished upload can be continued.
  var pendingUpload: Bool
  /// The time of the next check; `nil` if the phone is not running.
  @Nullable var nextCheck: Date?
  /// True if the health authority has paused checks and uploads.
  var paused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable var configurationRefused: String?
  /// The condition of the app's storage: `ready` or a kind of damage.
  var storage: String
  /// The kinds of stored data that were damaged and are not restored.
  var damaged: [String]
  /// The received beacons of the last fourteen days that were not stored, because there were too many; `nil` if the
  /// received beacons cannot be read.
  @Nullable var droppedBeacons: Int?
  /// The notices with their texts.
  var shownNotices: [NoticeReport]
}

/// A notice that is shown, or was in the last fourteen days.
struct NoticeReport: Encodable {
  let id: String
  let identifier: String
  let title: String
  let body: String
  let time: Date
}

/// The result of `check`.
struct CheckReport: Encodable {
  let ok: Bool
  @Nullable var riskLevel: Int?
  @Nullable var failure: String?
  /// True if the health authority has paused checks.
  let paused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable var configurationRefused: String?
}

/// The result of `enable` and `disable`.
struct EnableReport: Encodable {
  let enabled: Bool
  let outcome: String
}

/// The checks of the last fourteen days: `history`.
struct HistoryReport: Encodable {
  let checks: [Check]
  let notices: [NoticeReport]
  @Nullable var lastCheck: Date?
  let keysToday: Int
  let keysInSevenDays: Int
  let keysTotal: Int

  /// A check that analysed key files.
  struct Check: Encodable {
    let id: String
    let time: Date
    let keys: Int
    let matchedKeys: Int
    @Nullable var riskLevel: Int?
  }
}

/// The exposures of the last fourteen days, newest first: `exposures`.
struct ExposuresReport: Encodable {
  @Nullable var riskLevel: Int?
  let exposures: [Day]

  /// An encounter, or a day of encounters.
  struct Day: Encodable {
    let id: String
    /// `YYYY-MM-DD`.
    let date: String
    let seconds: Int
    let riskScore: Int
    /// The level of the policy for exposure windows: 1 or 2; `nil` without one.
    let level: Int?
  }
}

/// The result of `upload`.
struct UploadReport: Encodable {
  let ok: Bool
  /// The category of ProteGO Safe: 1 to 5.
  let result: Int
  /// The reason of a failure.
  let reason: String?
}

/// The result of `travel`.
struct TravelReport: Encodable {
  /// True if the owner has left the region; `nil` if nothing was recorded.
  @Nullable var traveled: Bool?
  let region: String
  /// True if damaged stays were found in the last fourteen days.
  let incomplete: Bool
}

/// The result of `start-over`.
struct StartOverReport: Encodable {
  let startedOver: Bool
}

/// The result of `remove`.
struct RemovalReport: Encodable {
  let removed: String
}

/// All data about the owner: `export-my-data`. Keys and received identifiers are only counted: the keys would let
/// others recognize the owner, the identifiers belong to other people.
struct OwnerDataReport: Encodable {
  let status: StatusReport
  let exposures: ExposuresReport
  let history: HistoryReport
  let stays: [Stay]
  /// The number of own keys that the phone stores.
  let ownKeys: Int
  let received: [Day]
  /// The record of sent requests and beacons.
  let sent: PhoneMessages
  let preferences: Preferences

  /// The choices of the owner for the user interface.
  struct Preferences: Encodable {
    let language: Language
    let hidesDetails: Bool
    let notifications: Bool
  }

  /// The last stay in a region.
  struct Stay: Encodable {
    let region: String
    let time: Date
  }

  /// The received beacons of one day.
  struct Day: Encodable {
    /// `YYYY-MM-DD`.
    let date: String
    let beacons: Int
  }
}

/// The result of `hear`.
package struct HeardReport: Codable {
  package var scans = 0
  /// The beacons with a signal strength.
  package var beacons = 0
  /// The beacons that were ignored, because their signal strength was not measured.
  package var beaconsWithoutStrength = 0

  package init() {}

  /// The result as text.
  package var text: String {
    "Heard \(beacons) beacons in \(scans) scans."
      + (beaconsWithoutStrength > 0
        ? " Ignored \(beaconsWithoutStrength) beacons without a signal strength (127)." : "")
  }

  /// Adds the result of another part of the same recording.
  package static func += (left: inout HeardReport, right: HeardReport) {
    left.scans += right.scans
    left.beacons += right.beacons
    left.beaconsWithoutStrength += right.beaconsWithoutStrength
  }
}

/// The identifiers that a phone has sent: `sent`.
struct SentReport: Encodable {
  let sent: [Beacon]

  /// A sent beacon, in the names of the CSV of `match`.
  struct Beacon: Encodable {
    let rpi: String
    let aem: String
    let unix_time: Int64
  }
}

// The facts that the commands print, and their words.
extension Phone {
  func status() async -> StatusReport {
    await app.reportDamage()
    let state = await app.currentState
    let shown = await notices.shown
    return StatusReport(
      enabled: device.isEnabled, authorized: device.authorizationStatus == .authorized,
      bluetooth: isRunning && device.status == .active, riskLevel: state.riskLevel.known,
      exposures: state.exposureCount, lastCheck: state.lastCheck,
      lastFailure: state.lastFailure?.rawValue, notices: shown.count,
      pendingUpload: state.hasPendingUpload, nextCheck: isRunning ? state.nextCheck : nil,
      paused: state.isPaused, configurationRefused: state.configurationRefusal?.description,
      storage: state.storage.rawValue, damaged: state.damage.map(\.content.rawValue),
      // A check reports why they cannot be read.
      droppedBeacons: try? await device.droppedSightings(),
      shownNotices: shown.map(NoticeReport.init))
  }

  func history() async -> HistoryReport {
    var checks: [HistoryReport.Check] = []
    let risks = await app.riskChecks
    for (analysis, risk) in zip(await app.analyzeChecks, risks) {
      checks.append(
        HistoryReport.Check(
          id: analysis.id.uuidString, time: analysis.date, keys: analysis.keysCount,
          matchedKeys: analysis.matchedKeyCount,
          riskLevel: await app.riskLevel(of: risk).known))
    }
    let totals = await app.checkTotals
    return HistoryReport(
      checks: checks, notices: await notices.history.map(NoticeReport.init),
      lastCheck: totals.lastCheck, keysToday: totals.todayKeysCount,
      keysInSevenDays: totals.last7DaysKeysCount, keysTotal: totals.totalKeysCount)
  }

  func exposures() async -> ExposuresReport {
    ExposuresReport(
      riskLevel: await app.riskLevel.known,
      exposures: await app.exposures.map { exposure in
        ExposuresReport.Day(
          id: exposure.id.uuidString, date: exposure.date.dayText,
          seconds: Int(exposure.durationSeconds),
          riskScore: exposure.riskScore, level: exposure.judgement?.level?.rawValue)
      })
  }

  func ownerData() async throws -> OwnerDataReport {
    let counts = try await device.storedDataCounts()
    let choices = preferences.values
    return OwnerDataReport(
      status: await status(), exposures: await exposures(), history: await history(),
      stays: try travel.regions().map { OwnerDataReport.Stay(region: $0.region, time: $0.date) },
      ownKeys: counts.ownKeys,
      received: counts.sightings.sorted { $0.key < $1.key }.map {
        OwnerDataReport.Day(date: $0.key.dayText, beacons: $0.value)
      },
      sent: await PhoneMessages.all(in: messages, received: counts.sightings),
      preferences: OwnerDataReport.Preferences(
        language: choices.language, hidesDetails: choices.hidesDetails,
        notifications: choices.notifications))
  }
}

extension NoticeReport {
  fileprivate init(_ row: PhoneNotices.Row) {
    self.init(
      id: row.id, identifier: row.identifier, title: row.title, body: row.body, time: row.time)
  }
}

extension StatusReport {
  private static func dropped(_ count: Int) -> String {
    "Dropped: \(count) received beacons were not stored, because there were too many at once. Encounters of the last "
      + "fourteen days may be missing."
  }

  var reply: PhoneReply { PhoneReply(.done, lines.joined(separator: "\n"), self) }

  private var lines: [String] {
    [
      "Exposure notifications: \(enabled ? "on" : "off")",
      "Bluetooth: \(bluetooth ? "on" : "off")",
      "Risk: \((riskLevel.flatMap(RiskLevel.init) ?? .unknown).words)",
      "Exposures in the last fourteen days: \(exposures)",
      "Last check: \(lastCheck?.text ?? "never")",
    ]
      + [
        lastFailure.flatMap(CheckFailure.init).map { "Last failure: \($0.description)" },
        nextCheck.map { "Next check: \($0.text)" },
        paused ? "Paused: the health authority has paused checks and uploads." : nil,
        configurationRefused,
        StorageCondition(rawValue: storage)?.advice.map { "Storage: \($0)" },
        droppedBeacons.flatMap { $0 > 0 ? Self.dropped($0) : nil },
        pendingUpload
          ? "An upload is not finished: the phone repeats it; you can also repeat it with the same PIN."
          : nil,
      ].compactMap { $0 }
      + shownNotices.map { "Notice: \($0.title). \($0.body)" }
  }
}

extension HistoryReport {
  var reply: PhoneReply {
    let lines = checks.map { check in
      let risk = check.riskLevel.map { "\($0)" } ?? "unknown"
      return
        "\(check.time.text): \(check.keys) keys, \(check.matchedKeys) encountered, risk \(risk)"
    }
    let told = notices.map { "\($0.time.text): notice: \($0.title)" }
    let sum = "Keys today: \(keysToday), in seven days: \(keysInSevenDays), in total: \(keysTotal)"
    return PhoneReply(.done, (lines + told + [sum]).joined(separator: "\n"), self)
  }
}

extension ExposuresReport {
  var reply: PhoneReply {
    let lines = exposures.map { exposure in
      let level = exposure.level.map { ", level \($0)" } ?? ""
      return
        "\(exposure.date): \((exposure.seconds + 59) / 60) minutes, score \(exposure.riskScore)\(level)"
    }
    return PhoneReply(
      .done, lines.isEmpty ? "No exposures." : lines.joined(separator: "\n"), self)
  }
}

extension OwnerDataReport {
  var reply: PhoneReply {
    let reply = PhoneReply(.done, "", self)
    // The text is the JSON itself: the data is the result.
    return PhoneReply(.done, reply.json ?? "", self)
  }
}

extension RiskLevel {
  /// The number of the level, 0 to 3; `nil` while it is unknown.
  var known: Int? { self == .unknown ? nil : rawValue }

  var words: String {
    switch self {
    case .unknown: "the risk is not known at the moment"
    case .none: "no relevant encounter is known"
    case .low: "low risk"
    case .medium: "moderate risk"
    case .high: "high risk"
    }
  }
}

extension Date {
  /// The time in UTC: `2020-10-15 12:00`.
  fileprivate var text: String {
    let time = Date.ISO8601FormatStyle(timeZone: .gmt).time(includingFractionalSeconds: false)
    return "\(dayText) \(formatted(time).prefix(5))"
  }
}
