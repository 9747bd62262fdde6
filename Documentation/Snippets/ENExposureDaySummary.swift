import ExposureNotification
import Foundation

@MainActor
func dayPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  let summary = try await stage.summary(.everyDayCounts)
  for day in summary.daySummaries {
    print(day.date.formatted(.iso8601.year().month().day()), day.daySummary.weightedDurationSum)
  }
  // Until here.
}
