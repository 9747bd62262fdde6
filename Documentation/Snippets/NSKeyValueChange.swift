import ExposureNotification
import Foundation

@MainActor
func keyValueChangePage() async throws {
  let manager = try await Stage().manager
  // On the page.
  let observation = manager.observe(\.exposureNotificationStatus, options: [.initial]) {
    print($1.kind)
  }
  observation.invalidate()
  // Until here.
}
