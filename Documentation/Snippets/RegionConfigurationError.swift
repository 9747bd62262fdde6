import ExposureNotification
import Foundation

@MainActor
func regionConfigurationErrorPage() async throws {
  // On the page.
  do {
    _ = try RegionConfiguration(contentsOf: URL(fileURLWithPath: "no-such-region.json"))
  } catch {
    print(error)
  }
  // Until here.
}
