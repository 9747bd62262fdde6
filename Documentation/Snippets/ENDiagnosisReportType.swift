import ExposureNotification
import Foundation

@MainActor
func diagnosisReportTypePage() async throws {
  // On the page.
  let configuration = ENExposureConfiguration()
  configuration.reportTypeNoneMap = .selfReported
  print(configuration.reportTypeNoneMap, configuration.reportTypeNoneMap.rawValue)
  // Until here.
}
