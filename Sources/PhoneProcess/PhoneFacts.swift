import ExposureApp
import ExposureNotification
import Foundation
import KeyServerAPI

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
        pendingUpload ? "An upload is not finished: repeat it with the same PIN." : nil,
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
