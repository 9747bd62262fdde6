import ExposureKeys
import Foundation

/// Selects the keys with windows in API version 2, and determines infectiousness and report type.
package struct WindowRules: Hashable, Sendable {
  /// The valid days since the onset of symptoms in a map.
  package static let days = -14...14

  private let infectiousness: [Int: ENInfectiousness]
  private let unstatedReportType: ENDiagnosisReportType

  /// - Throws: `ENError.badParameter` with an explanation that names the field.
  package init(_ configuration: ENExposureConfiguration) throws(ENError) {
    let field = "infectiousnessForDaysSinceOnsetOfSymptoms"
    guard let map = configuration.infectiousnessForDaysSinceOnsetOfSymptoms else {
      throw ConfigurationFields.invalid(field, "is needed in version 2")
    }
    var infectiousness: [Int: ENInfectiousness] = [:]
    for (day, value) in map {
      let isUnknown = day.intValue == ENDaysSinceOnsetOfSymptomsUnknown
      guard isUnknown || Self.days.contains(day.intValue),
        let value = UInt32(exactly: value.intValue).flatMap(ENInfectiousness.init)
      else {
        throw ConfigurationFields.invalid(field, "needs days from -14 to 14 and values from 0 to 2")
      }
      infectiousness[day.intValue] = value
    }
    self.infectiousness = infectiousness
    unstatedReportType = configuration.reportTypeNoneMap
  }

  /// The days with an infectiousness other than none, with Apple's raw values.
  var map: [Int: UInt32] {
    infectiousness.filter { $0.value != .none }.mapValues(\.rawValue)
  }

  /// The windows of `match`; empty if the key is not infectious or its report type is excluded.
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
  /// The valid days since the onset of symptoms. Others count as unknown.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14

  var usableDaysSinceOnset: Int? {
    daysSinceOnsetOfSymptoms.flatMap { Self.daysSinceOnset.contains($0) ? Int($0) : nil }
  }
}

extension ENDiagnosisReportType {
  /// The corresponding value of Apple's interface; nil becomes `unknown`.
  init(_ reportType: ReportType?) {
    self = reportType.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .unknown
  }
}

extension ENVariantOfConcernType {
  /// The corresponding value of Apple's interface; nil becomes `typeUnknown`.
  init(_ variant: VariantOfConcern?) {
    self = variant.flatMap { Self(rawValue: UInt32($0.rawValue)) } ?? .typeUnknown
  }
}
