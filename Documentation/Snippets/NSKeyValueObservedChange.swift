import ExposureNotification
import Foundation

@MainActor
func keyValueObservedChangePage() async throws {
  let manager = try await Stage().manager
  // On the page.
  let observation = manager.observe(\.exposureNotificationStatus, options: [.old, .new]) {
    print($1.oldValue ?? .unknown, "before,", $1.newValue ?? .unknown, "now")
  }
  try await manager.setExposureNotificationEnabled(false)
  await drained(manager)
  observation.invalidate()
  // Until here.
}
