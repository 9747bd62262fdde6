import ExposureNotification
import Foundation

@MainActor
func keyValueObservingOptionsPage() async throws {
  let manager = try await Stage().manager
  // On the page.
  let observation = manager.observe(\.exposureNotificationStatus, options: [.initial, .new]) {
    print($1.newValue ?? .unknown)
  }
  observation.invalidate()
  // Until here.
}
