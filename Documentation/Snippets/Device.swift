import ExposureNotification
import Foundation

@MainActor
func devicePage() async throws {
  let stage = try await Stage()
  let device = stage.device
  // On the page.
  let life = Task { try await device.run() }
  print(device.status, device.isEnabled)
  life.cancel()
  // Until here.
}
