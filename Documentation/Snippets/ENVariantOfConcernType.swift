import ExposureNotification
import Foundation

@MainActor
func variantOfConcernTypePage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  for window in try await stage.windows() {
    print(window.variantOfConcernType, window.variantOfConcernType.rawValue)
  }
  // Until here.
}
