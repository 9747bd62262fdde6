// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules
import Testing

@testable import ExposureApp

@Suite("Risk of exposure windows by a policy") struct WindowRiskTests {
  private static let today = Date(timeIntervalSince1970: 1_728_000_000)

  private func range(_ min: Double, _ max: Double, open: Bool = false) -> PolicyRange {
    PolicyRange(min: min, max: max, maxExclusive: open)
  }

  /// Minutes below 60 dB have weight 1; 5 are a low, 15 a high risk. A test at high infectiousness is 8.
  private func policy(_ change: (inout WindowRiskPolicy) -> Void = { _ in }) -> WindowRiskPolicy {
    let levels: [WindowRiskPolicy.LevelMapping] = [
      .init(normalizedTimeRange: range(5, 15, open: true), riskLevel: .low),
      .init(normalizedTimeRange: range(15, 9999), riskLevel: .high),
    ]
    var policy = WindowRiskPolicy(
      minutesAtAttenuationWeights: [.init(attenuationRange: range(0, 60, open: true), weight: 1)],
      normalizedTimePerEWToRiskLevelMapping: levels,
      normalizedTimePerDayToRiskLevelMapping: levels,
      trlEncoding: TransmissionRiskEncoding(
        infectiousnessOffsetStandard: 1, infectiousnessOffsetHigh: 2,
        reportTypeOffsetRecursive: 0, reportTypeOffsetSelfReport: 2,
        reportTypeOffsetConfirmedClinicalDiagnosis: 4, reportTypeOffsetConfirmedTest: 6),
      transmissionRiskValueMapping: [.init(transmissionRiskLevel: 8, transmissionRiskValue: 1)])
    change(&policy)
    return policy
  }

  private func window(
    minutes: Double, decibels: UInt8 = 50, daysAgo: Int = 0,
    reportType: ENDiagnosisReportType = .confirmedTest, infectiousness: ENInfectiousness = .high,
    calibration: ENCalibrationConfidence = .high
  ) -> RiskWindow {
    RiskWindow(
      date: Self.today.addingTimeInterval(-86_400 * Double(daysAgo)), reportType: reportType,
      infectiousness: infectiousness, calibrationConfidence: calibration,
      scans: [.init(minimumAttenuation: decibels, seconds: Int(minutes * 60))])
  }

  @Test(
    "Both ends of a range are included unless marked as exclusive",
    arguments: [(4.9, WindowRiskLevel?.none), (5, .low), (14.9, .low), (15, .high), (9_999, .high)])
  func boundaries(minutes: Double, level: WindowRiskLevel?) {
    #expect(policy().risk(of: [window(minutes: minutes)]).days[0].level == level)
  }

  @Test("A scan outside every range, or with negative seconds, adds nothing")
  func nothing() {
    let far = window(minutes: 30, decibels: 60)
    let back = window(minutes: -30)
    #expect(policy().risk(of: [far]).days[0].normalizedTime == 0)
    #expect(policy().risk(of: [back, window(minutes: 6)]).days[0].normalizedTime == 6)
  }

  @Test("The windows of a day add up, including those below every level")
  func daySum() {
    let risk = policy().risk(of: [window(minutes: 4), window(minutes: 4)])
    #expect(risk.days[0].level == .low)
    #expect(risk.total == .low)
    #expect(risk.encounterCount(at: .low) == 0)
  }

  @Test("One high day makes the total high, and days are counted by level")
  func total() {
    let risk = policy().risk(of: [
      window(minutes: 20, daysAgo: 3), window(minutes: 6, daysAgo: 1),
      window(minutes: 6, daysAgo: 2),
    ])
    #expect(risk.total == .high)
    #expect(risk.days(at: .low).count == 2)
    #expect(risk.days(at: .low).last == Self.today.addingTimeInterval(-86_400))
    #expect(risk.days(at: .high) == [Self.today.addingTimeInterval(-3 * 86_400)])
    #expect(policy().risk(of: []).total == .low)
  }

  @Test("Windows with equal properties are one encounter")
  func encounters() {
    let same = policy().risk(of: [window(minutes: 6), window(minutes: 6.5)])
    #expect(same.encounterCount(at: .low) == 1)
    let differing = policy().risk(of: [
      window(minutes: 6), window(minutes: 6, calibration: .low), window(minutes: 6, daysAgo: 1),
    ])
    #expect(differing.encounterCount(at: .low) == 3)
  }

  @Test("A day without a level has no encounters")
  func encounterNeedsDay() {
    let strict = policy {
      $0.normalizedTimePerDayToRiskLevelMapping = [
        .init(normalizedTimeRange: range(60, 9999), riskLevel: .high)
      ]
    }
    let risk = strict.risk(of: [window(minutes: 20)])
    #expect(risk.days[0].level == nil)
    #expect(risk.encounterCount(at: .high) == 0)
  }

  @Test("Filters drop windows by minutes within a range and by level")
  func filters() {
    let byMinutes = policy {
      $0.minutesAtAttenuationFilters = [
        .init(
          attenuationRange: range(0, 40), dropIfMinutesInRange: range(0, 10, open: true))
      ]
    }
    #expect(byMinutes.risk(of: [window(minutes: 20, decibels: 41)]).days.isEmpty)
    #expect(byMinutes.risk(of: [window(minutes: 10, decibels: 40)]).days.count == 1)
    #expect(byMinutes.risk(of: [window(minutes: 9.5, decibels: 40)]).days.isEmpty)
    let byLevel = policy { $0.trlFilters = [.init(dropIfTrlInRange: range(7, 8))] }
    #expect(byLevel.risk(of: [window(minutes: 20)]).days.isEmpty)
    #expect(byLevel.risk(of: [window(minutes: 20, reportType: .selfReported)]).days.count == 1)
  }

  @Test("A level without a value counts 0, and a window without a report type is dropped")
  func values() {
    let standard = window(minutes: 20, infectiousness: .standard)
    #expect(policy().risk(of: [standard]).days[0].normalizedTime == 0)
    for window in [
      window(minutes: 20, reportType: .unknown), window(minutes: 20, reportType: .revoked),
      window(minutes: 20, infectiousness: .none),
    ] {
      #expect(policy().risk(of: [window]).days.isEmpty)
    }
  }

  @Test("Sums of inexact fractions still meet a range end")
  func fractions() {
    let thirds = policy {
      $0.minutesAtAttenuationWeights[0].weight = 0.3
      $0.transmissionRiskValueMapping[0].transmissionRiskValue = 1.4
    }
    // 0.3 x 1.4 x 5 min is 2.1; fifty of them are 105.
    let exact = policy { $0 = thirds }.risk(of: (0..<50).map { _ in window(minutes: 5) })
    #expect(exact.days[0].normalizedTime == 105)
  }

  @Test("The order of the windows does not change the result")
  func order() {
    let windows = (1...30).map { window(minutes: Double($0) / 3, daysAgo: $0 % 4) }
    #expect(policy().risk(of: windows) == policy().risk(of: windows.reversed()))
  }
}
