// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import HealthAuthorityConsole
import KeyServerAPI
import RiskRules
import World

/// Contacts of simulated phones in one week, with which the console previews the effect of a configuration.
///
/// They are the same for every configuration: the distances and durations of meetings in a household, at work, in a
/// vehicle and in a queue, in fixed proportions. They are evaluated by the code of the app.
struct SimulatedContacts: Sendable {
  private let phones: [[RiskWindow]]

  static let lastWeek = SimulatedContacts(phoneCount: 300)

  /// The levels under the configurations `present` and `new`, by the versions of phones.
  ///
  /// - Throws: `ENError` if the scores of a configuration are not valid.
  func effect(
    of new: RemoteConfiguration, replacing present: RemoteConfiguration
  ) throws -> ConfigurationEffect {
    ConfigurationEffect(
      version1: Self.comparison(try version1(present), try version1(new)),
      version2: Self.comparison(version2(present), version2(new)))
  }

  /// The levels of contacts and of days, each in a fixed order.
  private struct Levels {
    var contacts: [RiskLevel] = []
    var days: [RiskLevel] = []
  }

  /// The levels on phones with exposure windows.
  private func version2(_ configuration: RemoteConfiguration) -> Levels {
    let policy = configuration.windowRiskConfiguration?.policy ?? .standard
    var levels = Levels()
    for phone in phones {
      levels.contacts += phone.map { Self.level(policy.risk(of: [$0]).days.first?.level) }
      let days = Dictionary(policy.risk(of: phone).days.map { ($0.date, $0.level) }) { $1 }
      levels.days += Self.days(of: phone).map { Self.level(days[$0] ?? nil) }
    }
    return levels
  }

  /// The levels on phones with scores. The level of a day is that of its worst contact.
  private func version1(_ configuration: RemoteConfiguration) throws -> Levels {
    let parameters = configuration.exposureConfiguration
    let scoring = try ExposureScoringV1(parameters.frameworkConfiguration)
    let assessment = RiskAssessment(thresholds: configuration.riskLevelConfiguration)
    func level(_ window: RiskWindow) -> RiskLevel {
      let score = scoring.score(of: window, daysAgo: Self.dayCount - window.date.unixDay)
      return score.capped < parameters.minimumRiskScore
        ? .none : assessment.level(of: score.fullRange)
    }
    var levels = Levels()
    for phone in phones {
      let contacts = phone.map(level)
      levels.contacts += contacts
      let byDay = Dictionary(zip(phone.map(\.date), contacts)) { max($0, $1) }
      levels.days += Self.days(of: phone).map { byDay[$0] ?? .none }
    }
    return levels
  }

  private static func days(of phone: [RiskWindow]) -> [Date] { Set(phone.map(\.date)).sorted() }

  private static func level(_ level: WindowRiskLevel?) -> RiskLevel {
    switch level {
    case .low: .low
    case .high: .high
    case nil: .none
    }
  }

  private static func comparison(_ old: Levels, _ new: Levels) -> ConfigurationEffect.Version {
    ConfigurationEffect.Version(
      contacts: comparison(old.contacts, new.contacts), days: comparison(old.days, new.days))
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

  /// A kind of meeting: its attenuation in dB, its duration in minutes, and its share in percent.
  private struct Meeting {
    let attenuation: ClosedRange<Int>
    let minutes: ClosedRange<Int>
    let share: Int
  }

  private static let meetings = [
    // In a queue: near, for a few minutes.
    Meeting(attenuation: 52...70, minutes: 3...9, share: 45),
    // In a vehicle: near, for a while.
    Meeting(attenuation: 55...75, minutes: 8...30, share: 30),
    // At work: across a room, for long.
    Meeting(attenuation: 62...82, minutes: 20...90, share: 18),
    // In a household.
    Meeting(attenuation: 48...66, minutes: 30...180, share: 7),
  ]

  private static let scanMinutes = 4
  private static let dayCount = 7

  private init(phoneCount: Int) {
    var generator = Generator()
    phones = (0..<phoneCount).map { _ in
      (0..<Self.dayCount).flatMap { day in
        (0..<generator.number(in: 0...3)).map { _ in Self.window(day: day, &generator) }
      }
    }
  }

  private static func window(day: Int, _ generator: inout Generator) -> RiskWindow {
    var draw = generator.number(in: 1...100)
    let meeting = meetings.first { meeting in
      draw -= meeting.share
      return draw <= 0
    }
    let (attenuation, minutes) = (meeting?.attenuation ?? 60...60, meeting?.minutes ?? 5...5)
    let duration = generator.number(in: minutes)
    let scans = stride(from: 0, to: min(duration, 30), by: scanMinutes).map { _ in
      RiskWindow.Scan(
        minimumAttenuation: ENAttenuation(generator.number(in: attenuation)),
        seconds: scanMinutes * 60)
    }
    return RiskWindow(
      date: Date(unixDay: day),
      reportType: .confirmedTest,
      infectiousness: generator.number(in: 1...3) == 1 ? .high : .standard,
      calibrationConfidence: .high, scans: scans)
  }

  /// A linear congruential generator with a fixed seed (constants from Numerical Recipes).
  private struct Generator {
    private var state: UInt64 = 20_270_115

    mutating func number(in range: ClosedRange<Int>) -> Int {
      state = (state &* 1_664_525 &+ 1_013_904_223) & 0xFFFF_FFFF
      return range.lowerBound + Int(state >> 8) % range.count
    }
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
