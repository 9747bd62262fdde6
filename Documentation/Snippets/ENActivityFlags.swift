import ExposureNotification
import Foundation

@MainActor
func activityFlagsPage() async throws {
  let stage = try await Stage(isEnabled: false)
  let (manager, device) = (stage.manager, stage.device)
  // On the page.
  manager.activityHandler = { flags in
    if flags.contains(.periodicRun) { print("look for key files now") }
  }
  try await manager.activate()
  device.wakeApp(for: .periodicRun)
  // Until here.
  await drained(manager)
}
