import ExposureNotification
import Foundation

@MainActor
func statusPage() async throws {
  let manager = try await Stage().manager
  // On the page.
  try await manager.setExposureNotificationEnabled(false)
  switch manager.exposureNotificationStatus {
  case .active: print("on")
  case .disabled: print("switched off in the app")
  case let other: print("not now: \(other)")
  }
  // Until here.
}
