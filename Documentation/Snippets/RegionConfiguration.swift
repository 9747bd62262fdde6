import ExposureNotification
import Foundation

@MainActor
func regionPage() async throws {
  // On the page.
  do {
    _ = try RegionConfiguration(json: Data("[]".utf8))
  } catch {
    print(error)
  }
  // Until here.
}
