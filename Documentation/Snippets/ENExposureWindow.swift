import ExposureNotification
import Foundation

@MainActor
func windowPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  for window in try await stage.windows() {
    print(window.scanInstances.count, "scans,", window.diagnosisReportType, window.infectiousness)
  }
  // Until here.
}
