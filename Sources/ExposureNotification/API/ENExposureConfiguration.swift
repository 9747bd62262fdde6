import Foundation

/// How the health authority wants exposures to be scored.
///
/// The defaults are those of a fresh object on a phone. What is out of range is refused by the
/// detection, with a sentence that names the field (Documentation/RiskScoring.md 6).
open class ENExposureConfiguration: NSObject {
  /// A configuration with every property at its default.
  public override init() {}

  // Both versions.

  /// Two or three attenuations in dB, ascending: the upper ends of near, medium and far.
  open var attenuationDurationThresholds: [NSNumber] = [50, 70, 90]
  /// Exposures that score less are left out, 0 to 4,096.
  open var minimumRiskScoreFullRange: Double = 0
  /// `attenuationDurationThresholds` and `minimumRiskScoreFullRange` once more, as apps written for
  /// iOS 13.5 set them; they win over the properties.
  open var metadata: [AnyHashable: Any]?

  // Version 1.

  /// Exposures that score less after capping are left out.
  open var minimumRiskScore: ENRiskScore = 0
  /// Eight values from 0 to 8, from far to near.
  open var attenuationLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var attenuationWeight = Double(ENRiskWeightDefault)
  /// Eight values from 0 to 8, from long ago to today.
  open var daysSinceLastExposureLevelValues: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
  /// Not used, 0 to 100.
  open var daysSinceLastExposureWeight = Double(ENRiskWeightDefault)
  /// Eight values from 0 to 8, from nothing to more than half an hour.
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
  /// Days since the first symptoms (−14 to 14, or `ENDaysSinceOnsetOfSymptomsUnknown`) to the raw
  /// value of `ENInfectiousness`; a missing day counts as none. Version 2 needs it.
  open var infectiousnessForDaysSinceOnsetOfSymptoms: [NSNumber: NSNumber]?
  /// The weight of exposures to people of standard infectiousness.
  open var infectiousnessStandardWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of exposures to people of high infectiousness.
  open var infectiousnessHighWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of laboratory tests.
  open var reportTypeConfirmedTestWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of doctors' diagnoses.
  open var reportTypeConfirmedClinicalDiagnosisWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of people's own reports.
  open var reportTypeSelfReportedWeight = Double(ENRiskWeightDefaultV2)
  /// The weight of contacts of contacts: reserved.
  open var reportTypeRecursiveWeight = Double(ENRiskWeightDefaultV2)
  /// What a key without a report type counts as; `.unknown` leaves such keys out.
  open var reportTypeNoneMap = ENDiagnosisReportType.confirmedTest
  /// Exposures older than this many days are left out; 0 leaves none out.
  open var daysSinceLastExposureThreshold = 0
}
