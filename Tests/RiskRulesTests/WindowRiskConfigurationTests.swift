// SPDX-License-Identifier: Apache-2.0
import Foundation
import RiskRules
import Testing

@Suite("Window risk configuration")
struct WindowRiskConfigurationTests {
  private typealias Fault = (field: String, change: (inout WindowRiskConfiguration) -> Void)

  private static var faults: [Fault] {
    [
      ("policy.trlEncoding", { $0.policy.trlEncoding.infectiousnessOffsetHigh = 101 }),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must have",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms = ["0": 0] }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["15"] = 1 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["1"] = 3 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["+3"] = 1 }
      ),
      (
        "infectiousnessForDaysSinceOnsetOfSymptoms must map",
        { $0.infectiousnessForDaysSinceOnsetOfSymptoms["-0"] = 1 }
      ),
      ("reportTypeNoneMap", { $0.reportTypeNoneMap = 6 }),
      (
        "daySummaries.attenuationDurationThresholds",
        { $0.daySummaries.attenuationDurationThresholds = [50, 40, 90] }
      ),
      ("daySummaries.nearDurationWeight", { $0.daySummaries.nearDurationWeight = 251 }),
      (
        "daySummaries.minimumRiskScoreFullRange",
        { $0.daySummaries.minimumRiskScoreFullRange = 32_813 }
      ),
      (
        "daySummaries.daysSinceLastExposureThreshold",
        { $0.daySummaries.daysSinceLastExposureThreshold = 15 }
      ),
    ]
  }

  private static var policyFaults: [Fault] {
    [
      (
        "policy.normalizedTimePerDayToRiskLevelMapping must have an entry",
        { $0.policy.normalizedTimePerDayToRiskLevelMapping = [] }
      ),
      (
        "policy.transmissionRiskValueMapping must have an entry",
        { $0.policy.transmissionRiskValueMapping = [] }
      ),
      (
        "policy.normalizedTimePerDayToRiskLevelMapping must not have overlapping",
        { $0.policy.normalizedTimePerDayToRiskLevelMapping[0].normalizedTimeRange.max = 16 }
      ),
      (
        "policy.normalizedTimePerEWToRiskLevelMapping must not have overlapping",
        {
          $0.policy.normalizedTimePerEWToRiskLevelMapping[0].normalizedTimeRange.maxExclusive =
            false
        }
      ),
    ]
  }

  @Test("A value out of bounds is a fault that begins with the name of its field")
  func faults() {
    #expect(WindowRiskConfiguration.standard.fault == nil)
    for (field, change) in Self.faults + Self.policyFaults {
      var rules = WindowRiskConfiguration.standard
      change(&rules)
      #expect(rules.fault?.hasPrefix(field) == true, "\(field): \(rules.fault ?? "no fault")")
    }
  }
}
