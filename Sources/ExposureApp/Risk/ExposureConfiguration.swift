import ExposureNotification
import Foundation
import KeyServerAPI

extension KeyServerAPI.ExposureScoring {
  /// The same numbers in the framework's words, field by field. Documentation/App.md 4.1.
  ///
  /// The thresholds travel in `metadata`, where apps for iOS 13.5 put them.
  var frameworkConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = ENRiskScore(clamping: minimumRiskScore)
    configuration.attenuationWeight = Double(attenuationWeight)
    configuration.daysSinceLastExposureWeight = Double(daysSinceLastExposureWeight)
    configuration.durationWeight = Double(durationWeight)
    configuration.transmissionRiskWeight = Double(transmissionRiskWeight)
    configuration.attenuationLevelValues = numbers(attenuationScores)
    configuration.daysSinceLastExposureLevelValues = numbers(daysSinceLastExposureScores)
    configuration.durationLevelValues = numbers(durationScores)
    configuration.transmissionRiskLevelValues = numbers(transmissionRiskScores)
    configuration.metadata = [
      "attenuationDurationThresholds": numbers(durationAtAttenuationThresholds)
    ]
    return configuration
  }

  private func numbers(_ values: [Int]) -> [NSNumber] { values.map { NSNumber(value: $0) } }
}
