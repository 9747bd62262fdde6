import ExposureNotification
import Foundation

@MainActor
func keyPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  let manager = stage.manager
  // On the page.
  for key in try await manager.diagnosisKeys() {
    key.transmissionRiskLevel = 5
    print(key.keyData.count, "bytes for", key.rollingPeriod, "intervals")
  }
  // Until here.
}
