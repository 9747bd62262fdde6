import ExposureNotification
import Foundation

@MainActor
func scanPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  // On the page.
  let scans = try await stage.windows().flatMap(\.scanInstances)
  let near = scans.filter { $0.typicalAttenuation <= 55 }
  print(near.reduce(0) { $0 + $1.secondsSinceLastScan } / 60, "minutes near")
  // Until here.
}
