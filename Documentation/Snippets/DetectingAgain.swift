import ExposureNotification
import Foundation

@MainActor
func detectingAgainPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  let manager = stage.manager
  // On the page.
  let first = try await stage.summary(.everyDayCounts)
  print(first.daySummaries.first?.daySummary.scoreSum ?? 0, "seconds")
  let configuration = ENExposureConfiguration.everyDayCounts
  configuration.reportTypeConfirmedTestWeight = 50
  await withCheckedContinuation { done in
    manager.detectExposures(configuration: configuration) { summary, error in
      print(summary?.daySummaries.first?.daySummary.scoreSum ?? 0, "seconds, halved")
      done.resume()
    }
  }
  // Until here.
}
