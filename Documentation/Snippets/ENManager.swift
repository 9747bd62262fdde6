import ExposureNotification
import Foundation

@MainActor
func managerPage() async throws {
  let stage = try await Stage()
  let manager = stage.manager
  let keyFiles = try await stage.meetSomebody()
  // On the page.
  let configuration = ENExposureConfiguration()
  await withCheckedContinuation { done in
    manager.detectExposures(configuration: configuration, diagnosisKeyURLs: keyFiles) {
      summary, error in
      print(
        summary?.matchedKeyCount ?? 0, "key met,", summary?.daysSinceLastExposure ?? 0, "days ago")
      done.resume()
    }
  }
  // Until here.
}
