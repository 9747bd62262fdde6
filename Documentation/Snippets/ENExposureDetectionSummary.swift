import ExposureNotification
import Foundation

@MainActor
func summaryPage() async throws {
  let stage = try await Stage()
  // On the page.
  let summary = try await stage.summary()
  print("seconds, nearest first:", summary.attenuationDurations)
  print("highest score:", summary.maximumRiskScore)
  // Until here.
}
