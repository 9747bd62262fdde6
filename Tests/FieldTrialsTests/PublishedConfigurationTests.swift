// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation
import RiskRules
import Testing

@testable import FieldTrials

@Suite("Published configurations")
struct PublishedConfigurationTests {
  /// The attenuations of the check values, in dB.
  private static let attenuations: [UInt8] = [40, 50, 54, 57, 60, 62, 65, 70, 74, 78]

  /// The weighted minutes of six scans of 300 s at each attenuation, from the collection of published values.
  private static let expectedMinutes: [(name: String, minutes: [Double])] = [
    ("narrow net 1", [45, 45, 45, 30, 30, 30, 12, 12, 0, 0]),
    ("narrow net 2", [52.5, 52.5, 52.5, 30, 30, 30, 30, 9.9, 9.9, 0]),
    ("wide net 1", [120, 120, 120, 60, 60, 60, 60, 60, 15, 15]),
    ("wide net 2", [60, 60, 60, 30, 30, 30, 30, 30, 7.5, 7.5]),
    ("Corona-Warn-App 1.9", [48, 48, 48, 24, 24, 24, 0, 0, 0, 0]),
    ("Corona-Warn-App 1.15", [48, 48, 48, 24, 24, 24, 14.4, 14.4, 0, 0]),
    ("Corona-Warn-App 2.0", [38.4, 38.4, 38.4, 38.4, 38.4, 38.4, 48, 48, 4.8, 4.8]),
    ("NHS COVID-19 1", [30, 30, 30, 15, 15, 15, 0, 0, 0, 0]),
    ("SwissCovid", [30, 30, 30, 15, 15, 15, 0, 0, 0, 0]),
    ("Radar COVID 1", [30, 30, 30, 15, 15, 15, 15, 15, 0, 0]),
    ("Radar COVID 2", [60, 60, 60, 30, 30, 30, 30, 30, 0, 0]),
    ("CoronaMelder", [45, 45, 45, 30, 30, 30, 12, 12, 0, 0]),
    ("Koronavilkku 2", [37.5, 37.5, 30, 30, 30, 30, 15, 15, 0, 0]),
    ("Smittestopp 2", [60, 60, 60, 60, 45, 45, 45, 0, 0, 0]),
    ("Smittestopp 2 server", [60, 60, 60, 60, 45, 45, 45, 0, 0, 0]),
    ("COCOA 2", [30, 75, 75, 75, 75, 39, 39, 0.3, 0.3, 0.3]),
    ("COVID Alert", [30, 30, 30, 30, 30, 30, 0, 0, 0, 0]),
    ("covidgreen 1", [30, 30, 30, 30, 30, 30, 0, 0, 0, 0]),
    ("covidgreen 2", [30, 30, 30, 22.5, 15, 15, 0, 0, 0, 0]),
    ("eRouska 2", [45, 45, 45, 30, 30, 30, 5.1, 5.1, 5.1, 0]),
    ("Stopp Corona", [15, 15, 15, 15, 15, 15, 7.5, 7.5, 7.5, 7.5]),
    ("EN Express", [30, 30, 15, 15, 15, 0, 0, 0, 0, 0]),
    ("framework default", [30, 30, 30, 30, 30, 30, 30, 30, 30, 30]),
  ]

  private func published(_ name: String) throws -> PublishedConfiguration {
    try #require(PublishedConfiguration.all.first { $0.name == name })
  }

  private func window(
    _ scans: [(minimum: UInt8, typical: UInt8, seconds: Int)], day: Int = 0
  ) -> ExposureWindow {
    var window = ExposureWindow()
    window.date = Date(timeIntervalSince1970: 1_614_556_800 + Double(day) * 86_400)
    window.infectiousness = .high
    window.diagnosisReportType = .confirmedTest
    window.scanInstances = scans.map {
      ScanInstance(
        minimumAttenuation: $0.minimum, typicalAttenuation: $0.typical,
        secondsSinceLastScan: $0.seconds)
    }
    return window
  }

  private func score(_ name: String, _ windows: ExposureWindow...) throws -> Double {
    try EncounterScoring(try published(name)).score(
      of: windows, today: windows.last?.date ?? Date(timeIntervalSince1970: 0))
  }

  @Test("Every window configuration has its published check values", arguments: expectedMinutes)
  func checkValues(name: String, minutes: [Double]) throws {
    let scores = try Self.attenuations.map { attenuation in
      try score(
        name,
        window(
          [(minimum: UInt8, typical: UInt8, seconds: Int)](
            repeating: (attenuation, attenuation, 300), count: 6)))
    }
    for (score, minutes) in zip(scores, minutes) {
      #expect(abs(score - minutes * 60) < 1e-6, "\(scores)")
    }
  }

  @Test("Every window configuration has check values, and names are unique")
  func complete() {
    let names = PublishedConfiguration.all.map(\.name)
    #expect(Set(names).count == names.count)
    let windows = PublishedConfiguration.all.filter {
      switch $0.rule {
      case .windows, .policy: true
      case .exposures, .distance, .naive: false
      }
    }
    #expect(Set(windows.map(\.name)) == Set(Self.expectedMinutes.map(\.name)))
  }

  @Test("Corona-Warn-App takes the least attenuation of a scan, others the mean")
  func minimum() throws {
    let window = window([(54, 63, 600)])
    #expect(try score("Corona-Warn-App 1.15", window) == 960)
    #expect(try score("narrow net 1", window) == 600)
  }

  @Test(
    "Corona-Warn-App 1.9 counts windows from ten minutes below 73 dB",
    arguments: [(480, 72, 0), (540, 72, 864), (600, 72, 960), (540, 73, 0), (600, 73, 960)])
  func leastTime(near: Int, farAttenuation: UInt8, expected: Double) throws {
    // The far scan of a minute has no weight itself.
    let window = window([(54, 54, near), (farAttenuation, farAttenuation, 60)])
    #expect(try score("Corona-Warn-App 1.9", window) == expected)
  }

  @Test("The policies of Corona-Warn-App are valid, and their high level alerts")
  func policies() throws {
    let rules = PublishedConfiguration.all.compactMap { published -> WindowRiskPolicy? in
      if case .policy(let policy) = published.rule { policy } else { nil }
    }
    #expect(rules.count == 3)
    #expect(rules.compactMap(\.validationError) == [])
    #expect(rules.map { AlertThreshold(highRiskOf: $0)?.score } == [900, 900, 540])
    var low = WindowRiskPolicy.standard
    low.normalizedTimePerDayToRiskLevelMapping.removeAll { $0.riskLevel == .high }
    #expect(AlertThreshold(highRiskOf: low) == nil)
  }

  @Test("A policy that drops a window, or gives its report type no level, scores 0")
  func dropped() throws {
    let scoring = try EncounterScoring(.coronaWarnApp1_9)
    var recursive = window([(50, 50, 1_800)])
    #expect(scoring.score(of: [recursive], today: recursive.date) == 2_880)
    recursive.diagnosisReportType = .recursive
    #expect(scoring.score(of: [recursive], today: recursive.date) == 0)
    recursive.diagnosisReportType = .revoked
    #expect(scoring.score(of: [recursive], today: recursive.date) == 0)
  }

  @Test("Apps with DP-3T round the seconds of a day in each range up to minutes")
  func rounded() throws {
    let first = window([(50, 50, 61), (60, 60, 59)])
    // 61 + 60 s round up to 180 s; 59 s to 60 s at 50 %.
    #expect(try score("SwissCovid", first, window([(50, 50, 60)])) == 210)
    #expect(try score("SwissCovid", first, window([(50, 50, 600)], day: 1)) == 600)
    #expect(try score("Radar COVID 2", first) == 300)
  }

  @Test("NHS COVID-19 takes the highest window, others the sum of the day")
  func highest() throws {
    let windows = [window([(50, 50, 300)]), window([(50, 50, 240)])]
    #expect(try score("NHS COVID-19 1", windows[0], windows[1]) == 300)
    #expect(try score("SwissCovid", windows[0], windows[1]) == 540)
  }

  @Test("The naive score sums the decibels below 70 of each scan")
  func naive() throws {
    #expect(
      try score("naive", window([(40, 50, 240), (60, 69, 60), (60, 70, 300), (90, 90, 300)])) == 21)
  }

  @Test(
    "Immuni alerts for more than 15 minutes at 63 dB or less",
    arguments: [(16, 63, true), (15, 63, false), (16, 64, false), (30, 40, true)])
  func immuni(minutes: Int, decibels: UInt8, isAlert: Bool) throws {
    let immuni = try published("Immuni")
    let score = try ExposureScoringV1(immuni.exposureConfiguration).score(
      attenuation: Attenuation(decibels: decibels), minutes: minutes, daysAgo: 0,
      transmissionRiskLevel: 0)
    #expect(try #require(immuni.alert).isReached(by: Double(score.fullRange)) == isAlert)
  }

  @Test(
    "A threshold is reached on it and above, unless only higher scores alert",
    arguments: [
      ("SwissCovid", [false, true, true]), ("CoronaMelder", [false, false, true]),
      ("COVID Alert", [false, false, true]), ("Koronavilkku 2", [false, true, true]),
    ])
  func thresholds(name: String, expected: [Bool]) throws {
    let alert = try #require(try published(name).alert)
    #expect([899.9, 900, 900.1].map(alert.isReached) == expected)
  }

  @Test("False and missed alerts are those on the wrong side of the threshold")
  func errors() {
    let phones = [(true, 900), (true, 899), (false, 900), (false, 0), (false, 1_000)].map {
      ScoredPhone(trial: 0, isPositive: $0.0, score: Double($0.1))
    }
    let errors = AlertErrors(of: phones, at: .fifteenMinutes)
    #expect((errors.falseAlerts, errors.missedAlerts) == (2, 1))
  }

  @Test("Another configuration is scored by the framework, and must be valid")
  func other() throws {
    let configuration = ENExposureConfiguration()
    configuration.attenuationDurationThresholds = [55, 63]
    #expect(throws: ENError.self) {
      try EncounterScoring(configuration, apiVersion: 2)
    }
    configuration.attenuationDurationThresholds = [55, 63, 70]
    configuration.immediateDurationWeight = 150
    let scoring = try EncounterScoring(configuration, apiVersion: 2)
    let window = window([(50, 50, 600)])
    #expect(scoring.score(of: [window], today: window.date) == 900)
  }
}
