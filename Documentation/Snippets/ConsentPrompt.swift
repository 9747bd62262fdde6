import ExposureNotification
import Foundation

@MainActor
func promptPage() async throws {
  // On the page.
  struct CarefulPerson: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
      request == .enableExposureNotification
    }
  }
  print(await CarefulPerson().allows(.shareDiagnosisKeys, for: "org.example.app"))
  // Until here.
}
