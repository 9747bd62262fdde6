import ExposureNotification
import Foundation

extension PublishedConfiguration {
  /// The configuration as an app would hand it to the framework.
  ///
  /// The sick person of a trial counts as highly infectious by a laboratory test, at full weight:
  /// the same factor for every phone, so it changes no order.
  package var exposureConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [
      NSNumber(value: ENDaysSinceOnsetOfSymptomsUnknown):
        NSNumber(value: ENInfectiousness.high.rawValue)
    ]
    switch rule {
    case .exposures(let attenuation, let duration, let days, let transmissionRisk):
      configuration.attenuationLevelValues = attenuation.map(NSNumber.init(value:))
      configuration.durationLevelValues = duration.map(NSNumber.init(value:))
      configuration.daysSinceLastExposureLevelValues = days.map(NSNumber.init(value:))
      configuration.transmissionRiskLevelValues = transmissionRisk.map(NSNumber.init(value:))
    case .windows(let thresholds, let weights):
      configuration.attenuationDurationThresholds = thresholds.map(NSNumber.init(value:))
      let weight = { weights.indices.contains($0) ? weights[$0] : 0 }
      configuration.immediateDurationWeight = weight(0)
      configuration.nearDurationWeight = weight(1)
      configuration.mediumDurationWeight = weight(2)
      configuration.otherDurationWeight = weight(3)
    }
    return configuration
  }
}
