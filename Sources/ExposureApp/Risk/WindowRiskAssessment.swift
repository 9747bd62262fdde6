// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import RiskRules
import World

/// The risk assessment of an app with API version 2: the framework's configuration for exposure windows,
/// and the policy that evaluates them.
public struct WindowRiskAssessment: Sendable {
  /// The validated policy.
  public let policy: WindowRiskPolicy
  /// Creates the configuration for each detection; the class is not Sendable.
  public let configuration: @Sendable () -> ENExposureConfiguration

  /// Validates the policy and the configuration.
  ///
  /// - Throws: `WindowRiskError` if the policy is invalid, or if the configuration has no infectiousness
  ///   map, because API version 2 detects nothing without it.
  public init(
    policy: WindowRiskPolicy, configuration: @escaping @Sendable () -> ENExposureConfiguration
  ) throws(WindowRiskError) {
    if let validationError = policy.validationError {
      throw WindowRiskError(message: validationError)
    }
    guard configuration().infectiousnessForDaysSinceOnsetOfSymptoms?.isEmpty == false else {
      throw WindowRiskError(message: Self.mapMissing)
    }
    self.policy = policy
    self.configuration = configuration
  }

  private static let mapMissing =
    "infectiousnessForDaysSinceOnsetOfSymptoms is empty; without it, version 2 detects nothing."
}

/// An invalid policy or configuration.
public struct WindowRiskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error message; it begins with the invalid field.
  public let message: String

  public var description: String { message }
}

extension WindowRiskAssessment {
  /// The rules of a remote configuration.
  ///
  /// - Throws: `WindowRiskError` if a value is out of bounds.
  public init(_ rules: WindowRiskConfiguration) throws(WindowRiskError) {
    try self.init(policy: rules.policy) { rules.frameworkConfiguration }
  }
}

extension WindowRiskConfiguration {
  /// The framework's configuration with the same values.
  var frameworkConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    let days = infectiousnessForDaysSinceOnsetOfSymptoms.compactMap { name, value in
      (name == Self.unknownOnset ? ENDaysSinceOnsetOfSymptomsUnknown : Int(name)).map {
        (NSNumber(value: $0), NSNumber(value: value))
      }
    }
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = Dictionary(
      days, uniquingKeysWith: { $1 })
    configuration.reportTypeNoneMap =
      UInt32(exactly: reportTypeNoneMap).flatMap(ENDiagnosisReportType.init) ?? .unknown
    let summaries = daySummaries
    configuration.attenuationDurationThresholds = summaries.attenuationDurationThresholds.map {
      NSNumber(value: $0)
    }
    configuration.immediateDurationWeight = summaries.immediateDurationWeight
    configuration.nearDurationWeight = summaries.nearDurationWeight
    configuration.mediumDurationWeight = summaries.mediumDurationWeight
    configuration.otherDurationWeight = summaries.otherDurationWeight
    configuration.infectiousnessStandardWeight = summaries.infectiousnessStandardWeight
    configuration.infectiousnessHighWeight = summaries.infectiousnessHighWeight
    configuration.reportTypeConfirmedTestWeight = summaries.reportTypeConfirmedTestWeight
    configuration.reportTypeConfirmedClinicalDiagnosisWeight =
      summaries.reportTypeConfirmedClinicalDiagnosisWeight
    configuration.reportTypeSelfReportedWeight = summaries.reportTypeSelfReportedWeight
    configuration.minimumRiskScoreFullRange = summaries.minimumRiskScoreFullRange
    configuration.daysSinceLastExposureThreshold = summaries.daysSinceLastExposureThreshold
    return configuration
  }
}

/// The infectiousness map of the last detection. The framework refuses detections with a second change of the
/// map within a week, so the app waits. The property names are the JSON keys on disk.
struct InfectiousnessRecord: Codable, Sendable, Equatable {
  private var last: [Int: Int]?
  private var changed: Date?

  /// The shortest time between two changes, in seconds.
  static let changeSeconds: TimeInterval = 7 * 86_400

  /// The map to use at `now` if the rules want `map`.
  func map(for map: [Int: Int], at now: Date) -> [Int: Int] {
    guard let last, let changed, abs(now.timeIntervalSince(changed)) < Self.changeSeconds else {
      return map
    }
    return last
  }

  /// Records the map of a detection.
  mutating func note(_ map: [Int: Int], at now: Date) {
    if let last, last != map { changed = now }
    last = map
  }
}

extension WindowRiskAssessment {
  /// The infectiousness above 0 by days since the onset of symptoms.
  var infectiousness: [Int: Int] {
    let map = configuration().infectiousnessForDaysSinceOnsetOfSymptoms ?? [:]
    return Dictionary(
      map.filter { $0.value.intValue > 0 }.map { ($0.key.intValue, $0.value.intValue) },
      uniquingKeysWith: { $1 })
  }

  /// The same rules with another map.
  func with(_ map: [Int: Int]) -> WindowRiskAssessment {
    let rules = self
    // Only the map differs from rules that are valid, and every map that was in force is valid.
    let changed = try? WindowRiskAssessment(policy: policy) {
      let configuration = rules.configuration()
      configuration.infectiousnessForDaysSinceOnsetOfSymptoms = Dictionary(
        map.map { (NSNumber(value: $0), NSNumber(value: $1)) }, uniquingKeysWith: { $1 })
      return configuration
    }
    return changed ?? self
  }
}
