import ExposureNotification
import Foundation

@MainActor
func configurationPage() async throws {
  // On the page.
  let configuration = ENExposureConfiguration()
  configuration.attenuationDurationThresholds = [55, 63, 75]
  configuration.immediateDurationWeight = 150
  configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [-2: 1, -1: 1, 0: 2, 1: 2, 2: 1]
  print(configuration.nearDurationWeight, configuration.reportTypeNoneMap)
  // Until here.
}
