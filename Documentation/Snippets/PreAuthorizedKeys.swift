import ExposureNotification
import Foundation

@MainActor
func preAuthorizedKeysPage() async throws {
  let stage = try await Stage(apiVersion: 2)
  let manager = stage.manager
  // On the page.
  try await manager.preAuthorizeDiagnosisKeys()
  manager.diagnosisKeysAvailableHandler = { keys in
    print(keys.count, "key to upload")
  }
  try await manager.requestPreAuthorizedDiagnosisKeys()
  // Until here.
  await drained(manager)
}
