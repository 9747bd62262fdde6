import ExposureNotification
import Foundation

@MainActor
func calibrationConfidencePage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  for window in try await stage.windows() {
    print(window.calibrationConfidence)
  }
  // Until here.
}
