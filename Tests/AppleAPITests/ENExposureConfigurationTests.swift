// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Testing

/// `ENExposureConfiguration`: the default and the setter of every property.
struct ENExposureConfigurationTests {
  private let configuration = ENExposureConfiguration()

  @Test("Properties of both versions have Apple's defaults")
  func both() {
    #expect(configuration.attenuationDurationThresholds == [50, 70, 90] as [NSNumber])
    #expect(configuration.minimumRiskScoreFullRange == 0 as Double)
    #expect(configuration.metadata == nil)
    configuration.attenuationDurationThresholds = [50, 62] as [NSNumber]
    configuration.minimumRiskScoreFullRange = 1.5
    configuration.metadata = ["attenuationDurationThresholds": [50, 70]]
    #expect(configuration.attenuationDurationThresholds.count == 2)
    #expect(configuration.minimumRiskScoreFullRange == 1.5)
    #expect(configuration.metadata?["attenuationDurationThresholds"] as? [Int] == [50, 70])
  }

  @Test("Properties of version 1 have Apple's defaults")
  func version1() {
    let levels: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
    #expect(configuration.minimumRiskScore == 0 as ENRiskScore)
    #expect(configuration.attenuationLevelValues == levels)
    #expect(configuration.daysSinceLastExposureLevelValues == levels)
    #expect(configuration.durationLevelValues == levels)
    #expect(configuration.transmissionRiskLevelValues == levels)
    #expect(configuration.attenuationWeight == 1 as Double)
    #expect(configuration.daysSinceLastExposureWeight == 1)
    #expect(configuration.durationWeight == 1)
    #expect(configuration.transmissionRiskWeight == 1)
    let bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 8]
    configuration.minimumRiskScore = 255
    configuration.attenuationLevelValues = bytes as [NSNumber]
    configuration.daysSinceLastExposureLevelValues = bytes as [NSNumber]
    configuration.durationLevelValues = bytes as [NSNumber]
    configuration.transmissionRiskLevelValues = bytes as [NSNumber]
    configuration.attenuationWeight = 50
    configuration.daysSinceLastExposureWeight = 50
    configuration.durationWeight = 50
    configuration.transmissionRiskWeight = 50
    #expect(configuration.transmissionRiskLevelValues.last?.intValue == 8)
  }

  @Test("Weights of version 2 are 100 percent by default")
  func weights() {
    let weights: [ReferenceWritableKeyPath<ENExposureConfiguration, Double>] = [
      \.immediateDurationWeight, \.nearDurationWeight, \.mediumDurationWeight,
      \.otherDurationWeight, \.infectiousnessStandardWeight, \.infectiousnessHighWeight,
      \.reportTypeConfirmedTestWeight, \.reportTypeConfirmedClinicalDiagnosisWeight,
      \.reportTypeSelfReportedWeight, \.reportTypeRecursiveWeight,
    ]
    for weight in weights {
      #expect(configuration[keyPath: weight] == 100)
      configuration[keyPath: weight] = 250
    }
    #expect(configuration.otherDurationWeight == 250)
  }

  @Test("Other properties of version 2 have Apple's defaults")
  func version2() {
    #expect(configuration.infectiousnessForDaysSinceOnsetOfSymptoms == nil)
    #expect(configuration.reportTypeNoneMap == .confirmedTest)
    #expect(configuration.daysSinceLastExposureThreshold == 0 as Int)
    var map = [Int: Int]()
    for day in -14...14 { map[day] = Int(ENInfectiousness.standard.rawValue) }
    map[ENDaysSinceOnsetOfSymptomsUnknown] = Int(ENInfectiousness.high.rawValue)
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map as [NSNumber: NSNumber]
    configuration.reportTypeNoneMap = .unknown
    configuration.daysSinceLastExposureThreshold = 10
    let unknown = ENDaysSinceOnsetOfSymptomsUnknown as NSNumber
    #expect(configuration.infectiousnessForDaysSinceOnsetOfSymptoms?[unknown] == 2)
  }
}
