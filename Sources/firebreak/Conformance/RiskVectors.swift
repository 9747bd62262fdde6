// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import RiskRules
import Terminal
import World

/// Exposure windows and their risk under a policy.
struct RiskVectors: Decodable {
  let policy: WindowRiskPolicy
  let cases: [RiskCase]

  private enum CodingKeys: String, CodingKey {
    case policy = "defaultRiskCalculationConfiguration"
    case cases = "testCases"
  }

  func outcomes() throws -> [CaseOutcome] {
    if let fault = policy.validationError {
      throw CommandFailure.badInput("\(CodingKeys.policy.rawValue): \(fault)")
    }
    return cases.map { $0.outcome(by: policy) }
  }
}

/// A case: windows by age, and the expected risk.
struct RiskCase: Decodable {
  private let description: String
  private let exposureWindows: [RiskCaseWindow]
  private let expTotalRiskLevel: Int
  private let expAgeOfMostRecentDateWithLowRisk: Int?
  private let expAgeOfMostRecentDateWithHighRisk: Int?
  private let expNumberOfDaysWithLowRisk: Int
  private let expNumberOfDaysWithHighRisk: Int
  private let expTotalMinimumDistinctEncountersWithLowRisk: Int
  private let expTotalMinimumDistinctEncountersWithHighRisk: Int

  func outcome(by policy: WindowRiskPolicy) -> CaseOutcome {
    let risk = policy.risk(of: exposureWindows.map(\.window))
    let got = [
      Self.text(risk.total.rawValue),
      Self.text(.low, risk), Self.text(.high, risk),
    ].joined(separator: "; ")
    return CaseOutcome(name: description, expected: expected, got: got)
  }

  private var expected: String {
    [
      Self.text(expTotalRiskLevel),
      Self.text(
        .low, days: expNumberOfDaysWithLowRisk, age: expAgeOfMostRecentDateWithLowRisk,
        encounters: expTotalMinimumDistinctEncountersWithLowRisk),
      Self.text(
        .high, days: expNumberOfDaysWithHighRisk, age: expAgeOfMostRecentDateWithHighRisk,
        encounters: expTotalMinimumDistinctEncountersWithHighRisk),
    ].joined(separator: "; ")
  }

  private static func text(_ total: Int) -> String { "total risk \(total)" }

  private static func text(_ level: WindowRiskLevel, _ risk: WindowRisk) -> String {
    let days = risk.days(at: level)
    return text(
      level, days: days.count, age: days.last.map(RiskCaseWindow.age),
      encounters: risk.encounterCount(at: level))
  }

  private static func text(
    _ level: WindowRiskLevel, days: Int, age: Int?, encounters: Int
  ) -> String {
    "\(level): \(days) days, latest age \(age.map(String.init) ?? "never"), \(encounters) encounters"
  }
}

/// A window of a case, with Apple's raw values and an age instead of a date.
struct RiskCaseWindow: Decodable {
  let window: RiskWindow

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    window = RiskWindow(
      date: try fields.checked(
        .ageInDays, "must be a number of days from 0 to \(Self.ages.upperBound)"
      ) {
        (age: Int) in Self.ages.contains(age) ? Self.date(ofAge: age) : nil
      },
      reportType: try fields.checked(
        .reportType, "must be a whole number from 0 to 5", ENDiagnosisReportType.init),
      infectiousness: try fields.checked(
        .infectiousness, "must be 0, 1 or 2", ENInfectiousness.init),
      calibrationConfidence: try fields.checked(
        .calibrationConfidence, "must be 0, 1, 2 or 3", ENCalibrationConfidence.init),
      scans: try fields.decode([Scan].self, forKey: .scanInstances).map(\.scan))
  }

  /// The age of `date` in days.
  static func age(of date: Date) -> Int {
    Int((today.timeIntervalSince(date) / day).rounded())
  }

  private static func date(ofAge age: Int) -> Date {
    today.addingTimeInterval(-Double(age) * day)
  }

  private static let day: TimeInterval = 86_400
  private static let ages = 0...10_000
  /// An arbitrary day from which ages count.
  private static let today = Date(unixDay: 20_000)

  private struct Scan: Decodable {
    let scan: RiskWindow.Scan

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: ScanField.self)
      scan = RiskWindow.Scan(
        minimumAttenuation: try fields.checked(
          .minAttenuation, "must be a whole number of dB from 0 to 255"
        ) {
          UInt8(exactly: $0 as Int)
        },
        // Negative values occur on phones whose clock was set back.
        seconds: try fields.checked(.secondsSinceLastScan, "must be a whole number of seconds") {
          $0
        })
    }
  }

  private enum ScanField: String, CodingKey {
    case minAttenuation, secondsSinceLastScan
  }

  private enum Field: String, CodingKey {
    case ageInDays, reportType, infectiousness, calibrationConfidence, scanInstances
  }
}
