// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import HealthAuthorityConsole
import KeyServerAPI
import RiskRules
import Terminal
import World

/// The contacts of phones, with which the console previews the effect of a configuration by the code of the app.
struct PhoneContacts: Sendable {
  /// The exposure windows of one phone.
  struct Phone: Sendable {
    let windows: [RiskWindow]
    /// The day of the check that evaluates them, as a number of days since 1970.
    let today: Int

    /// The days with a window, oldest first.
    var days: [Date] { Set(windows.map(\.date)).sorted() }
  }

  let phones: [Phone]

  /// The levels under the configurations `present` and `new`, by the versions of phones.
  ///
  /// - Throws: `ENError` if the scores of a configuration are not valid.
  func effect(
    of new: RemoteConfiguration, replacing present: RemoteConfiguration
  ) throws -> ConfigurationEffect.Phones {
    ConfigurationEffect.Phones(
      count: phones.count, version1: Self.comparison(try version1(present), try version1(new)),
      version2: Self.comparison(version2(present), version2(new)))
  }

  /// The levels of contacts, days and phones, each in a fixed order.
  private struct Levels {
    var contacts: [RiskLevel] = []
    var days: [RiskLevel] = []
    /// The level of the worst day of each phone, which its notice tells.
    var notices: [RiskLevel] = []

    mutating func add(contacts: [RiskLevel], days: [RiskLevel]) {
      self.contacts += contacts
      self.days += days
      notices.append(days.max() ?? .none)
    }
  }

  /// The levels on phones with exposure windows.
  private func version2(_ configuration: RemoteConfiguration) -> Levels {
    let rules = configuration.windowRiskConfiguration ?? .standard
    var levels = Levels()
    for phone in phones {
      let windows = phone.windows.map { $0.reported(by: rules) }
      let days = Dictionary(rules.policy.risk(of: windows).days.map { ($0.date, $0.level) }) { $1 }
      levels.add(
        contacts: windows.map { Self.level(rules.policy.risk(of: [$0]).days.first?.level) },
        days: phone.days.map { Self.level(days[$0] ?? nil) })
    }
    return levels
  }

  /// The levels on phones with scores. The level of a day is that of its worst contact.
  private func version1(_ configuration: RemoteConfiguration) throws -> Levels {
    let parameters = configuration.exposureConfiguration
    let scoring = try ExposureScoringV1(parameters.frameworkConfiguration)
    let assessment = RiskAssessment(thresholds: configuration.riskLevelConfiguration)
    func level(_ window: RiskWindow, _ today: Int) -> RiskLevel {
      let score = scoring.score(of: window, daysAgo: today - window.date.unixDay)
      return score.capped < parameters.minimumRiskScore
        ? .none : assessment.level(of: score.fullRange)
    }
    var levels = Levels()
    for phone in phones {
      let contacts = phone.windows.map { level($0, phone.today) }
      let byDay = Dictionary(zip(phone.windows.map(\.date), contacts)) { max($0, $1) }
      levels.add(contacts: contacts, days: phone.days.map { byDay[$0] ?? .none })
    }
    return levels
  }

  private static func level(_ level: WindowRiskLevel?) -> RiskLevel {
    switch level {
    case .low: .low
    case .high: .high
    case nil: .none
    }
  }

  private static func comparison(_ old: Levels, _ new: Levels) -> ConfigurationEffect.Version {
    ConfigurationEffect.Version(
      contacts: comparison(old.contacts, new.contacts), days: comparison(old.days, new.days),
      notices: comparison(old.notices, new.notices))
  }

  private static func comparison(
    _ old: [RiskLevel], _ new: [RiskLevel]
  ) -> ConfigurationEffect.Comparison {
    ConfigurationEffect.Comparison(
      before: counts(old), after: counts(new), changed: zip(old, new).count { $0 != $1 })
  }

  private static func counts(_ levels: [RiskLevel]) -> ConfigurationEffect.Levels {
    ConfigurationEffect.Levels(
      none: levels.count { $0 <= .none }, low: levels.count { $0 == .low },
      medium: levels.count { $0 == .medium }, high: levels.count { $0 == .high })
  }
}

// MARK: - Recordings

extension PhoneContacts {
  /// The largest number of windows in a recording: those of 1,000 phones in a fortnight with many contacts.
  static let recordedWindowCountMax = 20_000
  /// The days for which phones keep windows.
  static let dayCountMax = 14

  /// Reads the windows of a field trial, in the JSON of `firebreak trials --windows`. Each phone is evaluated on the
  /// day after its last window.
  ///
  /// - Throws: `CommandFailure` that names the file and its fault.
  init(recordedAt path: String, windowCountMax: Int = recordedWindowCountMax) throws {
    let recording = try WindowsJSON(at: path)
    guard (1...windowCountMax).contains(recording.windows.count) else {
      throw CommandFailure.badInput(
        "The windows file \(path.printable) has \(recording.windows.count) windows: use one with 1 to"
          + " \(windowCountMax).")
    }
    phones = recording.phones.map { windows in
      let today = (windows.map(\.date.unixDay).max() ?? 0) + 1
      return Phone(
        windows: windows.filter { today - $0.date.unixDay <= Self.dayCountMax }.map(
          RiskWindow.init),
        today: today)
    }
  }
}

extension RiskWindow {
  fileprivate init(_ window: ExposureWindow) {
    self.init(
      date: window.date, reportType: window.diagnosisReportType,
      infectiousness: window.infectiousness, calibrationConfidence: window.calibrationConfidence,
      scans: window.scanInstances.map {
        Scan(minimumAttenuation: $0.minimumAttenuation, seconds: $0.secondsSinceLastScan)
      })
  }

  /// The window as a phone with `rules` has it, which give a type to a report without one.
  fileprivate func reported(by rules: WindowRiskConfiguration) -> RiskWindow {
    guard reportType == .unknown else { return self }
    var window = self
    window.reportType =
      ENDiagnosisReportType(rawValue: UInt32(rules.reportTypeNoneMap)) ?? .unknown
    return window
  }
}

extension ExposureScoringV1 {
  /// The score of a contact with a key of the highest transmission risk, which phones give to all keys by default.
  fileprivate func score(of window: RiskWindow, daysAgo: Int) -> RiskScore {
    let seconds = window.scans.reduce(0) { $0 + $1.seconds }
    guard seconds > 0 else { return RiskScore(fullRange: 0) }
    let sum = window.scans.reduce(0) { $0 + $1.seconds * Int($1.minimumAttenuation) }
    return score(
      attenuation: Attenuation(decibels: UInt8(clamping: (sum + seconds / 2) / seconds)),
      minutes: (seconds + 59) / 60, daysAgo: daysAgo, transmissionRiskLevel: 8)
  }
}
