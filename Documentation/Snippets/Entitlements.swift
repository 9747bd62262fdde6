import ExposureNotification
import Foundation

@MainActor
func entitlementsPage() async throws {
  // On the page.
  let manager = try await Stage(entitlements: [.exposureNotification, .test]).manager
  for key in try await manager.testDiagnosisKeys() {
    print("today's key, for", key.rollingPeriod, "intervals")
  }
  // Until here.
}
