import ExposureNotification
import Foundation

extension ConfigurationJSON {
  /// The properties that are one number.
  static var numbers: [String: ReferenceWritableKeyPath<ENExposureConfiguration, Double>] {
    [
      "minimumRiskScoreFullRange": \.minimumRiskScoreFullRange,
      "attenuationWeight": \.attenuationWeight,
      "daysSinceLastExposureWeight": \.daysSinceLastExposureWeight,
      "durationWeight": \.durationWeight,
      "transmissionRiskWeight": \.transmissionRiskWeight,
      "immediateDurationWeight": \.immediateDurationWeight,
      "nearDurationWeight": \.nearDurationWeight,
      "mediumDurationWeight": \.mediumDurationWeight,
      "otherDurationWeight": \.otherDurationWeight,
      "infectiousnessStandardWeight": \.infectiousnessStandardWeight,
      "infectiousnessHighWeight": \.infectiousnessHighWeight,
      "reportTypeConfirmedTestWeight": \.reportTypeConfirmedTestWeight,
      "reportTypeConfirmedClinicalDiagnosisWeight": \.reportTypeConfirmedClinicalDiagnosisWeight,
      "reportTypeSelfReportedWeight": \.reportTypeSelfReportedWeight,
      "reportTypeRecursiveWeight": \.reportTypeRecursiveWeight,
    ]
  }

  /// The properties that are a list of numbers.
  static var lists: [String: ReferenceWritableKeyPath<ENExposureConfiguration, [NSNumber]>] {
    [
      "attenuationDurationThresholds": \.attenuationDurationThresholds,
      "attenuationLevelValues": \.attenuationLevelValues,
      "daysSinceLastExposureLevelValues": \.daysSinceLastExposureLevelValues,
      "durationLevelValues": \.durationLevelValues,
      "transmissionRiskLevelValues": \.transmissionRiskLevelValues,
    ]
  }
}
