import ExposureNotification
import Foundation

@MainActor
func travelPage() async throws {
  let manager = try await Stage().manager
  // On the page.
  do {
    print(try await manager.userTraveled())
  } catch ENError.travelStatusNotAvailable {
    print("nobody knows")
  }
  // Until here.
}
