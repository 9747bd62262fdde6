import ExposureNotification
import Foundation

@MainActor
func infectiousnessPage() async throws {
  // On the page.
  let configuration = ENExposureConfiguration()
  configuration.infectiousnessForDaysSinceOnsetOfSymptoms = [
    0: ENInfectiousness.high.rawValue as NSNumber,
    5: ENInfectiousness.standard.rawValue as NSNumber,
  ]
  print(configuration.infectiousnessForDaysSinceOnsetOfSymptoms?[5] ?? 0)
  // Until here.
}
