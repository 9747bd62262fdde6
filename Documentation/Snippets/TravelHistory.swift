import ExposureNotification
import Foundation

@MainActor
func travelHistoryPage() async throws {
  // On the page.
  struct Diary: TravelHistory {
    func hasLeft(_ region: String, since date: Date) async -> Bool? { region == "PL" }
  }
  let manager = try await Stage(travel: Diary()).manager
  print(try await manager.userTraveled())
  // Until here.
}
