// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The health authority's parameters for scoring exposures.
///
/// The defaults are Apple's. A detection rejects a value out of range with `ENError.badParameter` and a
/// text that names the property.
open class ENExposureConfiguration: NSObject {
  /// A configuration with every property at its default.
  public override init() {}

  // Both versions.

  /// Two or three attenuations in dB, ascending: the upper limits of near, medium and far.
  open var attenuationDurationThresholds: [NSNumber] = [50, 70, 90]
  /// The lowest score of a reported exposure before capping, 0 to 4,096.
  open var minimumRiskScoreFullRange: Double = 0
  /// `attenuationDurationThresholds` and `minimumRiskScoreFullRange` in the form that apps for iOS 13.5
  /// use. They override the properties.
  open var metadata: [AnyHashable: Any]?

  // Version 1.

  /// The lowest score of a reported exposure after capping.
  open var minimumRiskScore: ENRiskScore = 0
  /// Eight values from 0 to 8, from far to near.
  open var attenuationLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var attenuationWeight = Double(ENRiskWeightDefault)
  /// Eight values from 0 to 8, from long ago to today.
  open var daysSinceLastExposureLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var daysSinceLastExposureWeight = Double(ENRiskWeightDefault)
  /// Eight values from 0 to 8, from no duration to more than half an hour.
  open var durationLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var durationWeight = Double(ENRiskWeightDefault)
  /// Eight values from 0 to 8, by the transmission risk level of the key.
  open var transmissionRiskLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var transmissionRiskWeight = Double(ENRiskWeightDefault)

  // Version 2: weights in percent, 0 to 250.

  /// The weight of time in the nearest range of attenuation.
  open var immediateDurationWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of time in the second range.
  open var nearDurationWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of time in the third range.
  open var mediumDurationWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of time beyond the last threshold.
  open var otherDurationWeight = Double(ENRiskWeightDefaultV2)
  /// A map from the days since the first symptoms (−14 to 14, or `ENDaysSinceOnsetOfSymptomsUnknown`)
  /// to the raw value of `ENInfectiousness`. A missing day counts as none. Required in version 2.
  open var infectiousnessForDaysSinceOnsetOfSymptoms: [NSNumber: NSNumber]?
  /// The weight of exposures to users of standard infectiousness.
  open var infectiousnessStandardWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of exposures to users of high infectiousness.
  open var infectiousnessHighWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of laboratory tests.
  open var reportTypeConfirmedTestWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of doctors' diagnoses.
  open var reportTypeConfirmedClinicalDiagnosisWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of self-reports.
  open var reportTypeSelfReportedWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of contacts of contacts: reserved.
  open var reportTypeRecursiveWeight = Double(ENRiskWeightDefaultV2)
  /// The report type of keys without one; `.unknown` ignores such keys.
  open var reportTypeNoneMap = ENDiagnosisReportType.confirmedTest
  /// The age in days up to which exposures are reported; 0 means no limit.
  open var daysSinceLastExposureThreshold = 0
}
