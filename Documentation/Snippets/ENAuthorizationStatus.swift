import ExposureNotification
import Foundation

@MainActor
func authorizationPage() async throws {
  let stage = try await Stage(isEnabled: false)
  let manager = stage.manager
  // On the page.
  print("before:", ENManager.authorizationStatus)
  try await manager.activate()
  try await manager.setExposureNotificationEnabled(true)
  print("after:", ENManager.authorizationStatus)
  // Until here.
}
