import ExposureKeys
import Foundation

/// Version 2: whose windows count, and as what.
///
/// Documentation/RiskScoring.md 7.1 and 7.2.
package struct WindowRules: Hashable, Sendable {
  /// Days from the first symptoms that a map may name.
  package static let days = -14...14

  private let infectiousness: [Int: ENInfectiousness]
  private let unstatedReportType: ENDiagnosisReportType

  /// Takes over `configuration`; throws `ENError.badParameter` with a sentence that names the field.
  package init(_ configuration: ENExposureConfiguration) throws(ENError) {
    let field = "infectiousnessForDaysSinceOnsetOfSymptoms"
    guard let map = configuration.infectiousnessForDaysSinceOnsetOfSymptoms else {
      throw ConfigurationFields.refusal(field, "is needed in version 2")
    }
    var infectiousness: [Int: ENInfectiousness] = [:]
    for (day, value) in map {
      let isUnknown = day.intValue == ENDaysSinceOnsetOfSymptomsUnknown
      guard isUnknown || Self.days.contains(day.intValue),
        let value = UInt32(exactly: value.intValue).flatMap(ENInfectiousness.init)
      else { throw ConfigurationFields.refusal(field, "maps days from -14 to 14 to 0, 1 or 2") }
      infectiousness[day.intValue] = value
    }
    self.infectiousness = infectiousness
    unstatedReportType = configuration.reportTypeNoneMap
  }

  /// The days that count and how infectious they are, with Apple's numbers.
  var map: [Int: UInt32] {
    infectiousness.filter { $0.value != .none }.mapValues(\.rawValue)
  }

  /// The windows of `match`; none where its owner was not infectious or the report does not count.
  package func windows(of match: KeyMatch) -> [ExposureWindow] {
    let stated = ENDiagnosisReportType(match.key.reportType)
    let reportType = stated == .unknown ? unstatedReportType : stated
    let day = match.key.usableDaysSinceOnset ?? ENDaysSinceOnsetOfSymptomsUnknown
    let infectiousness = infectiousness[day] ?? .none
    guard infectiousness != .none, ![.unknown, .revoked, .recursive].contains(reportType) else {
      return []
    }
    return ExposureWindow.windows(
      of: match, infectiousness: infectiousness, diagnosisReportType: reportType)
  }
}

extension DiagnosisKey {
  /// Days from the first symptoms that make sense; others count as not stated.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14

  /// Days from the first symptoms to the key's day, where stated and within 14.
  var usableDaysSinceOnset: Int? {
    daysSinceOnsetOfSymptoms.flatMap { Self.daysSinceOnset.contains($0) ? Int($0) : nil }
  }
}

extension ENDiagnosisReportType {
  /// The name of `reportType` in Apple's interface; what is not stated is unknown.
  init(_ reportType: ReportType?) {
    self = reportType.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .unknown
  }
}

extension ENVariantOfConcernType {
  /// The name of `variant` in Apple's interface; what is not stated is unknown.
  init(_ variant: VariantOfConcern?) {
    self = variant.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .typeUnknown
  }
}
