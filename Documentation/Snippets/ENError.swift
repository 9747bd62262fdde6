import ExposureNotification
import Foundation

@MainActor
func errorPage() async throws {
  let manager = try await Stage(person: Person(answer: false), isEnabled: false).manager
  try await manager.activate()
  // On the page.
  do {
    try await manager.setExposureNotificationEnabled(true)
  } catch ENError.notAuthorized {
    print("The person said no; ask them to look into the settings.")
  }
  // Until here.
}
