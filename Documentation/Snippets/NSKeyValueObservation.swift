import ExposureNotification
import Foundation

@MainActor
func keyValueObservationPage() async throws {
  let manager = try await Stage().manager
  // On the page.
  let observation = manager.observe(\.exposureNotificationEnabled) { manager, _ in
    print("enabled:", manager.exposureNotificationEnabled)
  }
  try await manager.setExposureNotificationEnabled(false)
  await drained(manager)
  observation.invalidate()
  try await manager.setExposureNotificationEnabled(true)
  // Until here.
  await drained(manager)
}
