import ExposureNotification
import Foundation

@MainActor
func exposureWindowsPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  let manager = stage.manager
  // On the page.
  let summary = try await stage.summary(.everyDayCounts)
  await withCheckedContinuation { done in
    manager.getExposureWindows(summary: summary) { windows, error in
      let spreading = windows?.filter { $0.variantOfConcernType == .type2 }
      print(spreading?.count ?? 0, "of", windows?.count ?? 0, "with a variant that spreads easily")
      done.resume()
    }
  }
  // Until here.
}
