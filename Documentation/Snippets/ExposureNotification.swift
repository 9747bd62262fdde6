import ExposureNotification
import Foundation

@MainActor
func exposureNotificationPage() async throws {
  _ = try await Stage(isEnabled: false)
  // On the page.
  let manager = ENManager()
  try await manager.activate()
  try await manager.setExposureNotificationEnabled(true)
  print(manager.exposureNotificationStatus)
  // Until here.
}
