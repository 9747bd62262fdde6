import ExposureNotification
import Foundation
import KeyServerAPI

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
