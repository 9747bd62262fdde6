import ExposureNotification
import Foundation

@MainActor
func exposureSummaryItemPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  let day = try await stage.summary(.everyDayCounts).daySummaries.first
  print("tested:", day?.confirmedTestSummary?.scoreSum ?? 0)
  print("told by themselves:", day?.selfReportedSummary?.scoreSum ?? 0)
  // Until here.
}
