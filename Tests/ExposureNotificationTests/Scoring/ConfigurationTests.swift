// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ExposureNotification

struct ConfigurationTests {
  @Test("The defaults equal those of a new object on an iPhone")
  func defaults() {
    let fresh = ENExposureConfiguration()
    let table: [NSNumber] = [1, 2, 3, 4, 5, 6, 7, 8]
    #expect(fresh.attenuationLevelValues == table)
    #expect(fresh.daysSinceLastExposureLevelValues == table)
    #expect(fresh.durationLevelValues == table)
    #expect(fresh.transmissionRiskLevelValues == table)
    #expect(fresh.attenuationDurationThresholds == [50, 70, 90])
    #expect(
      [
        fresh.attenuationWeight, fresh.daysSinceLastExposureWeight, fresh.durationWeight,
        fresh.transmissionRiskWeight,
      ] == [1, 1, 1, 1])
    #expect(
      [
        fresh.immediateDurationWeight, fresh.nearDurationWeight, fresh.mediumDurationWeight,
        fresh.otherDurationWeight, fresh.infectiousnessStandardWeight,
        fresh.infectiousnessHighWeight, fresh.reportTypeConfirmedTestWeight,
        fresh.reportTypeConfirmedClinicalDiagnosisWeight, fresh.reportTypeSelfReportedWeight,
        fresh.reportTypeRecursiveWeight,
      ].allSatisfy { $0 == 100 })
    #expect(fresh.minimumRiskScore == 0 && fresh.minimumRiskScoreFullRange == 0)
    #expect(fresh.reportTypeNoneMap == .confirmedTest)
    #expect(fresh.daysSinceLastExposureThreshold == 0)
    #expect(fresh.metadata == nil && fresh.infectiousnessForDaysSinceOnsetOfSymptoms == nil)
  }

  /// The explanation of the error; nil if the configuration is valid.
  private func refusal(
    version: Int = 1, _ change: (ENExposureConfiguration) -> Void
  ) -> String? {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [:]
    change(configuration)
    do throws(ENError) {
      _ = try DetectionScoring(configuration, apiVersion: version)
      return nil
    } catch {
      #expect(error.code == .badParameter)
      return error.localizedDescription
    }
  }

  @Test("Both versions accept the default configuration, version 2 with a map")
  func taken() {
    #expect(refusal(version: 1) { _ in } == nil)
    #expect(refusal(version: 2) { _ in } == nil)
    #expect(refusal(version: 3) { _ in } != nil)
  }

  @Test("A table without eight values from 0 to 8 is rejected with its name")
  func tables() {
    let fields: [(String, ReferenceWritableKeyPath<ENExposureConfiguration, [NSNumber]>)] = [
      ("attenuationLevelValues", \.attenuationLevelValues),
      ("daysSinceLastExposureLevelValues", \.daysSinceLastExposureLevelValues),
      ("durationLevelValues", \.durationLevelValues),
      ("transmissionRiskLevelValues", \.transmissionRiskLevelValues),
    ]
    let bad: [[NSNumber]] = [
      [], [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 8], [1, 2, 3, 4, 5, 6, 7, 9],
      [-1, 2, 3, 4, 5, 6, 7, 8], [0.5, 2, 3, 4, 5, 6, 7, 8],
    ]
    for (name, field) in fields {
      for values in bad {
        let message = refusal { $0[keyPath: field] = values }
        #expect(message?.hasPrefix(name + " ") == true, "\(name) \(values)")
      }
      #expect(refusal { $0[keyPath: field] = [0, 8, 0, 8, 0, 8, 0, 8] } == nil)
    }
  }

  @Test("Thresholds in property and metadata must be two or three ascending values up to 255")
  func thresholds() {
    let bad: [[NSNumber]] = [
      [], [50], [50, 60, 70, 80], [60, 50], [-1, 50], [50, 256], [1.5, 2],
    ]
    for thresholds in bad {
      let property = refusal { $0.attenuationDurationThresholds = thresholds }
      let metadata = refusal { $0.metadata = ["attenuationDurationThresholds": thresholds] }
      #expect(property?.hasPrefix("attenuationDurationThresholds ") == true, "\(thresholds)")
      #expect(metadata?.hasPrefix("attenuationDurationThresholds ") == true, "\(thresholds)")
    }
    #expect(refusal { $0.attenuationDurationThresholds = [0, 255] } == nil)
    #expect(refusal { $0.metadata = ["attenuationDurationThresholds": [48, 58]] } == nil)
    #expect(refusal { $0.metadata = ["attenuationDurationThresholds": "48, 58"] } != nil)
    #expect(refusal(version: 2) { $0.attenuationDurationThresholds = [50, 70] } != nil)
  }

  @Test("Thresholds in the metadata take precedence, as Int or NSNumber")
  func metadataWins() throws {
    let configuration = ENExposureConfiguration()
    for given: Any in [[48, 58], [48, 58] as [NSNumber]] {
      configuration.metadata = ["attenuationDurationThresholds": given]
      #expect(try ConfigurationFields(configuration).thresholds(counts: 2...3) == [48, 58])
    }
  }

  @Test("Minimum scores and weights out of range are rejected")
  func ranges() {
    for value in [-0.1, 4096.1, .nan, .infinity] {
      #expect(
        refusal { $0.minimumRiskScoreFullRange = value }?.hasPrefix("minimumRiskScoreFullRange")
          == true)
    }
    #expect(refusal { $0.minimumRiskScoreFullRange = 4096 } == nil)
    #expect(refusal { $0.metadata = ["minimumRiskScoreFullRange": "much"] } != nil)
    #expect(refusal { $0.durationWeight = 101 }?.hasPrefix("durationWeight") == true)
    #expect(refusal { $0.durationWeight = 100 } == nil)
  }

  @Test("Version 2 requires a map, percentages up to 250 and a day threshold of at least 0")
  func versionTwo() {
    let days = \ENExposureConfiguration.infectiousnessForDaysSinceOnsetOfSymptoms
    #expect(refusal(version: 2) { $0[keyPath: days] = nil }?.hasPrefix("infectiousness") == true)
    for bad: [NSNumber: NSNumber] in [[15: 1], [-15: 1], [0: 3], [0: -1]] {
      #expect(refusal(version: 2) { $0[keyPath: days] = bad } != nil, "\(bad)")
    }
    let unknown = NSNumber(value: ENDaysSinceOnsetOfSymptomsUnknown)
    #expect(refusal(version: 2) { $0[keyPath: days] = [-14: 0, 14: 2, unknown: 1] } == nil)
    #expect(refusal(version: 2) { $0.nearDurationWeight = 250 } == nil)
    #expect(refusal(version: 2) { $0.nearDurationWeight = 251 }?.hasPrefix("nearDuration") == true)
    #expect(refusal(version: 2) { $0.reportTypeRecursiveWeight = -1 } != nil)
    #expect(refusal(version: 2) { $0.daysSinceLastExposureThreshold = -1 } != nil)
  }
}
