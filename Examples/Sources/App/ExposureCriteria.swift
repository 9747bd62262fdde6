import ExposureNotification
import Foundation

/// How the authority wants exposures to be scored, as its server sends it.
public struct ExposureCriteria: Codable {
  let minimumRiskScore: UInt8
  let attenuationDurationThresholds: [Int]
  let attenuationLevelValues: [UInt8]
  let daysSinceLastExposureLevelValues: [UInt8]
  let durationLevelValues: [UInt8]
  let transmissionRiskLevelValues: [UInt8]

  /// The same for the framework. The thresholds go where apps for iOS 13.5 put them.
  var configuration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = minimumRiskScore
    configuration.attenuationLevelValues = attenuationLevelValues as [NSNumber]
    configuration.daysSinceLastExposureLevelValues = daysSinceLastExposureLevelValues as [NSNumber]
    configuration.durationLevelValues = durationLevelValues as [NSNumber]
    configuration.transmissionRiskLevelValues = transmissionRiskLevelValues as [NSNumber]
    configuration.metadata = ["attenuationDurationThresholds": attenuationDurationThresholds]
    return configuration
  }
}
